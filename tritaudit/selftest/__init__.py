"""Plants known faults into right kernels and measures whether the search finds and names them.

Two kinds of mutants. `operators` change the text of a right case of the catalogue: a mask dropped,
an index shifted, a cast too early. `built` holds cases whose `run` is plain torch and applies a
fault by construction, written from the definition of the fault and not from its predictor.
"""
