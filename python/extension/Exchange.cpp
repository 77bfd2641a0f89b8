//===- Exchange.cpp - Descriptors of keys and values ----------------------===//
//
// kv/ABI/Exchange.h for kvmlir.exchange, which moves the rows.
//
//===----------------------------------------------------------------------===//

#include "Specs.h"

#include "kv/ABI/ExchangeOf.h"

using namespace kv::python;

static void refuse(std::string message) {
  raise(KV_STATUS_INVALID_ARGUMENT, KV_REFUSAL_NONE, std::move(message));
}

static KvExchange readDescriptor(const nb::bytes &data) {
  KvExchange it = {};
  if (const char *problem = kvExchangeRead(data.c_str(), data.size(), &it))
    refuse(problem);
  return it;
}

static nb::bytes writeDescriptor(const KvExchange &it) {
  uint8_t data[KV_EXCHANGE_SIZE];
  if (const char *problem = kvExchangeWrite(&it, data))
    refuse(problem);
  return nb::bytes(data, sizeof data);
}

template <auto Member> static nb::bytes digest(const KvExchange &it) {
  return nb::bytes(it.*Member, sizeof(it.*Member));
}

template <auto Member>
static void setDigest(KvExchange &it, const nb::bytes &value) {
  if (value.size() != sizeof(it.*Member))
    refuse("a digest of " + std::to_string(value.size()) +
           " bytes is given, allowed: 16");
  std::memcpy(it.*Member, value.data(), sizeof(it.*Member));
}

static nb::tuple shapeOf(const KvExchange &it) {
  nb::list sizes;
  for (int dim = 0; dim < KV_EXCHANGE_DIMS; ++dim)
    sizes.append(kvExchangeExtent(&it, dim));
  return nb::tuple(sizes);
}

static nb::tuple orderOf(const KvExchange &it) {
  nb::list dims;
  for (uint8_t dim : it.order)
    dims.append(int(dim));
  return nb::tuple(dims);
}

/// The descriptor of a sequence's rows in pages of the spec's one collection.
static KvExchange describe(const Spec &own, int64_t first, int64_t tokens) {
  if (own.collections.size() != 1)
    refuse("the manager has " + std::to_string(own.collections.size()) +
           " collections, allowed: 1");
  const KvCollectionSpec &from = own.collections.front();
  auto degree = get<int64_t>(
      [&](auto *out) { return kvTensorParallelDegree(&own.spec, out); });
  if (degree != 1)
    refuse("a replica of the manager has " + std::to_string(degree) +
           " devices, allowed: 1");
  kv::CacheGeometry cache;
  cache.strategy = static_cast<kv::CacheStrategy>(from.strategy);
  cache.dtype = static_cast<KvDType>(from.dtype);
  cache.layout = static_cast<kv::CacheLayout>(from.layout);
  cache.layers = from.layers;
  cache.heads = from.heads;
  cache.dim = from.dim;
  cache.page =
      get<int64_t>([&](auto *out) { return kvPageSize(&own.spec, out); });
  cache.vDim = from.vDim;
  cache.scaleGroup = from.scaleGroup;
  cache.scaleDType = static_cast<KvDType>(from.scaleDType);
  cache.window = from.window;
  cache.pageLayers = from.pageLayers;
  // Pages that a window has given back cannot be described.
  if (!cache.isPaged() || cache.window != 0 || cache.bands() != 1)
    refuse("the collection is continuous or recurrent, has a window, or a page "
           "has not all of its layers, allowed: a paged collection without a "
           "window, whose pages have all layers");
  return exchangeOf(cache, {.first = first, .tokens = tokens});
}

void kv::python::bindExchange(nb::module_ &module) {
  nb::class_<KvExchange>(
      module, "ExchangeDescriptor",
      "What bytes of keys and values mean; docs/reference/exchange.md has the "
      "fields.")
      .def_static("read", &readDescriptor, nb::arg("data"),
                  "From the first 128 bytes. Raises ValueError: the field, and "
                  "what is allowed.")
      .def_static("of", &describe, nb::arg("spec"), nb::arg("first"),
                  nb::arg("tokens"),
                  "Of a sequence's rows in the pages of a spec's one "
                  "collection, without model and prefix.")
      .def("write", &writeDescriptor,
           "The 128 bytes. Raises ValueError: the field, and what is allowed.")
      .def_ro("dtype", &KvExchange::dtype)
      .def_ro("planes", &KvExchange::planes)
      .def_ro("scale_dtype", &KvExchange::scaleDtype)
      .def_ro("layers", &KvExchange::layers)
      .def_ro("first_layer", &KvExchange::firstLayer)
      .def_ro("heads", &KvExchange::heads)
      .def_ro("first_head", &KvExchange::firstHead)
      .def_ro("all_heads", &KvExchange::allHeads)
      .def_ro("dim", &KvExchange::dim)
      .def_ro("value_dim", &KvExchange::valueDim)
      .def_ro("scale_group", &KvExchange::scaleGroup)
      .def_ro("page", &KvExchange::page)
      .def_ro("window", &KvExchange::window)
      .def_ro("pages", &KvExchange::pages)
      .def_ro("first", &KvExchange::first)
      .def_ro("tokens", &KvExchange::tokens)
      .def_prop_ro("order", &orderOf,
                   nb::sig("def order(self) -> tuple[int, ...]"),
                   "The dimensions in memory, outermost first: 0 page, 1 "
                   "plane, 2 layer, 3 token, 4 head.")
      .def_prop_ro("shape", &shapeOf,
                   nb::sig("def shape(self) -> tuple[int, ...]"),
                   "(pages, planes, layers, page, heads).")
      .def_prop_ro("num_bytes", &kvExchangeBytes,
                   "Of all rows and scales, without the descriptor.")
      .def_prop_rw("model", &digest<&KvExchange::model>,
                   &setDigest<&KvExchange::model>,
                   "16 bytes: who computed the rows.")
      .def_prop_rw("prefix", &digest<&KvExchange::prefix>,
                   &setDigest<&KvExchange::prefix>,
                   "16 bytes: the digest of the tokens, or zeros.");
}
