"""A small grammar that writes English sentences with their German translations.

From the words up: ``words`` (the shape of a lexicon entry), ``nouns``, ``verbs`` and ``modifiers``
(the lexicon), ``inflection`` (endings of both languages), ``noun_phrases``, ``predicates``,
``numbers_dates``, ``clauses`` (word order), ``phrases``, ``adverbials`` and ``choices`` (what goes
together, by chance), ``sentences``, ``questions`` and ``subordination`` (what is said), ``corpus``
(the split into train, dev and test).

Every English sentence has exactly one translation, so a model can learn the task to the end.
"""
