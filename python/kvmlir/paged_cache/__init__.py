"""MAX's package of this name."""

from .cache_manager import PagedKVCacheManager

__all__ = ["PagedKVCacheManager"]
