"""From documents to what a model reads, and from its tokens back to words that people read."""
