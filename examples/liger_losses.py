"""Total variation distance and Jensen-Shannon divergence of Liger Kernel.

Both losses are defined for probabilities, so the inputs are first brought into their range by steps
that round nothing (`probabilities`, `log_probabilities`), in the kernel's run and in the reference
alike.

The kernel of the total variation distance calls `.to` on a number, which Triton's interpreter
cannot, so that case needs a GPU.
"""

import torch
from liger_kernel.ops.jsd import jsd_forward
from liger_kernel.ops.tvd import tv_distance_forward_triton

from tritaudit import Case, Reference, Tensor

IGNORE = -100


def probabilities(x: torch.Tensor) -> torch.Tensor:
    """Values from 0 to 1; NaN becomes 0."""
    return torch.nan_to_num(x).abs().clamp(max=1)


def log_probabilities(x: torch.Tensor) -> torch.Tensor:
    """Values from -20 to 0; NaN becomes 0."""
    return -torch.nan_to_num(x).abs().clamp(max=20)


# --------------------------------------------------------------------------- total variation


def run_tvd(p: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    """The loss of each element: its `reduction="none"`, in float32 for every input dtype."""
    p, q = probabilities(p), probabilities(q)
    return tv_distance_forward_triton(p, q, None, "none", IGNORE, False)[0]


def tvd(p: torch.Tensor, q: torch.Tensor) -> torch.Tensor:
    return 0.5 * (probabilities(p) - probabilities(q)).abs()


# --------------------------------------------------------------------------- Jensen-Shannon


def jsd_terms(x: torch.Tensor, y: torch.Tensor, beta: float) -> tuple[torch.Tensor, torch.Tensor]:
    """The two terms of each element of the loss, for log-probabilities."""
    x, y = log_probabilities(x), log_probabilities(y)
    p, q = y.exp(), x.exp()
    if beta == 0.0:
        return p * (y - x), torch.zeros_like(p)
    if beta == 1.0:
        return torch.zeros_like(q), q * (x - y)
    log_m = (beta * p + (1 - beta) * q).log()
    return beta * p * (y - log_m), (1 - beta) * q * (x - log_m)


def jsd_case(beta: float) -> Case:
    def run(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """The loss of all rows together: a tensor without axes."""
        x, y = log_probabilities(x), log_probabilities(y)
        return jsd_forward(x, y, None, beta, IGNORE, False)[0]

    def jsd(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        first, second = jsd_terms(x, y, beta)
        return (first + second).sum() / x.shape[0]

    def magnitude(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        """Each term is a probability times a difference that cancels: both sides count."""
        x, y = log_probabilities(x), log_probabilities(y)
        return ((x.exp() + y.exp()) * (1 + x.abs() + y.abs())).sum() / x.shape[0]

    return Case(
        run=run,
        contract=Reference(jsd, tolerance=32, scale=magnitude),
        inputs=[Tensor("x", "M N"), Tensor("y", "M N")],
        axes={"M": (1, 5), "N": (1, 200)},
        out_shape="",
    )


HALF = ("float32", "float16", "bfloat16")
cases = {
    "tvd": Case(
        run=run_tvd,
        contract=Reference(tvd, tolerance="exact"),
        inputs=[Tensor("p", "M N", dtypes=HALF), Tensor("q", "M N", dtypes=HALF)],
        axes={"M": (1, 5), "N": (1, 200)},
        out_dtype="float32",
    ),
    "jsd": jsd_case(0.5),
    "forward_kl": jsd_case(0.0),
    "reverse_kl": jsd_case(1.0),
}
