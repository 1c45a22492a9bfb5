"""The doctor: what is wrong with an environment, and the shortest safe way out.

A report or a live environment becomes Evidence; causes are small functions over it; the first that holds is the answer.
"""
