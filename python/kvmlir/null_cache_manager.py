"""MAX's module of this name."""

from .managers import NullKVCacheManager

__all__ = ["NullKVCacheManager"]
