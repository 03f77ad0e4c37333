"""Weights beside the norms of what they multiply (kobayashi2020)."""
