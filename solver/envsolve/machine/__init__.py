"""How a Machine is learnt: detection, pasted outputs, profiles, one-line specs."""
