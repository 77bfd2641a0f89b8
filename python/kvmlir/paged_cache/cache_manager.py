"""MAX's module of this name."""

from ..managers import PagedKVCacheManager

__all__ = ["PagedKVCacheManager"]
