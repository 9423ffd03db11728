"""Whether two texts are one memory: the rule on the floor, the rule under recorded vectors, and its guard."""
