"""What a report shows of every head: its card, a sentence, exemplars, its place in the atlas."""
