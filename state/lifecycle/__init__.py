"""How texts age: what each is worth keeping at hand, when it is looked at, and what a group of them says in short."""
