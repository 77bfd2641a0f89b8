//===- DecodeTransfers.cpp - A decoding peer's leases and reads -----------===//

#include "DecodePeer.h"

#include <utility>

using namespace kv;
using namespace kv::peer;

/// The bytes of one lease: while its pages are read, the owner looks for those
/// of the next. Nothing is read while the owner looks for the first lease's
/// pages, so that lease is small.
static constexpr int64_t LeaseBytes = int64_t(8) << 20,
                         FirstLeaseBytes = int64_t(1) << 20;

bool DecodePeer::fetch(const PrefixPage &page) {
  Place own = records->find(page);
  if (own == Place::Disk || own == Place::Store)
    return records->fetch(page);
  std::optional<Known> at = locate(page);
  if (own != Place::Absent || !at || contact != Contact::Connected ||
      loading.contains(page.name) || !has(*at))
    return false;
  Slot slot = records->reserve(page, {});
  if (!slot)
    return !loading.empty();
  queued.push_back({page.name, slot, at->question->id, at->index, at->isState});
  loading.emplace(page.name, at->question->id);
  // The owner looks for the first ones while this side collects the others.
  if (conversion->isIdentity() &&
      std::ssize(queued) * conversion->sourceBytes() >= leaseBytes())
    flush();
  return true;
}

/// The bytes of the next lease.
int64_t DecodePeer::leaseBytes() const {
  return transfers.empty() ? FirstLeaseBytes : LeaseBytes;
}

/// The slot has no owner any more.
void DecodePeer::drop(Load &load) {
  loading.erase(load.name);
  records->publish(load.slot, /*written=*/false);
}

/// Sends what has been collected.
void DecodePeer::flush() {
  if (contact != Contact::Connected)
    return;
  for (Question &question : questions)
    if (!question.sent) {
      question.sent = true;
      question.changed = now();
      ++figures.asks;
      if (!send(Ask{incarnation, question.id, question.prefix.scopeBytes,
                    question.prefix.tokens}))
        giveUp(question.id, 0);
    }
  int64_t page = slots.pageSize, source = conversion->sourcePage();
  // One transfer at a time has the staging buffer.
  bool converts = !conversion->isIdentity();
  size_t at = 0;
  while (at < queued.size() && !(converts && usesStaging)) {
    int64_t bytes = converts ? std::ssize(staging) : leaseBytes();
    int64_t most = std::max<int64_t>(bytes / conversion->sourceBytes(), 1);
    Transfer &transfer = transfers.emplace_back();
    transfer.firstSource = queued[at].index * page / source;
    for (; at < queued.size(); ++at) {
      const Load &load = queued[at];
      int64_t end = ((load.index + 1) * page + source - 1) / source;
      bool follows = transfer.loads.empty() ||
                     (load.question == transfer.loads.back().question &&
                      load.index == transfer.loads.back().index + 1);
      if (!follows || end - transfer.firstSource > most)
        break;
      transfer.numSources = end - transfer.firstSource;
      transfer.loads.push_back(load);
    }
    transfer.request = ++lastId;
    transfer.link = link;
    transfer.owner = incarnation;
    transfer.deadline = now() + leaseTime;
    if (converts)
      usesStaging = &transfer;
    // If it cannot be sent, the deadline ends it.
    (void)send(Lease{incarnation, transfer.request, transfer.loads[0].question,
                     transfer.firstSource,
                     transfer.firstSource + transfer.numSources});
  }
  queued.erase(queued.begin(), queued.begin() + static_cast<int64_t>(at));
}

void DecodePeer::handle(const Leased &leased) {
  auto at = std::ranges::find(transfers, leased.request, &Transfer::request);
  bool isWanted = at != transfers.end() &&
                  at->stage == Transfer::Stage::Leasing && !at->givenUp;
  if (isWanted && begin(*at, leased))
    return;
  if (!leased.addresses.empty()) // not needed any more
    (void)send(Return{incarnation, leased.request, leased.generation});
  if (at == transfers.end() || at->stage != Transfer::Stage::Leasing)
    return;
  finish(*at, /*valid=*/false);
  transfers.erase(at);
}

/// Begins to read what has been leased. False: it is of no use.
bool DecodePeer::begin(Transfer &transfer, const Leased &leased) {
  int64_t got = (transfer.firstSource + std::ssize(leased.addresses)) *
                conversion->sourcePage();
  auto isThere = [&](const Load &load) {
    return (load.index + 1) * slots.pageSize <= got;
  };
  if (std::ssize(leased.addresses) > transfer.numSources ||
      !isThere(transfer.loads.front()))
    return false;
  // Pages of which not everything was leased are asked for again.
  auto rest = std::ranges::find_if_not(transfer.loads, isThere);
  std::vector<Load> later(rest, transfer.loads.end());
  transfer.loads.erase(rest, transfer.loads.end());
  transfer.generation = leased.generation;
  std::vector<Transport::Part> parts;
  size_t bytes = static_cast<size_t>(conversion->sourceBytes());
  for (size_t i = 0; i < leased.addresses.size(); ++i)
    if (!conversion->isIdentity())
      parts.push_back({staging.data() + i * bytes, leased.addresses[i], bytes});
    else
      parts.push_back(
          {transfer.loads[i].slot.data, leased.addresses[i], bytes});
  queued.insert(queued.begin(), later.begin(), later.end());
  Expected<Transport::Read> read = transport->read(transfer.link, parts);
  if (!read)
    return false; // nothing has begun
  transfer.stage = Transfer::Stage::Reading;
  transfer.read = *read;
  transfer.deadline = now() + leaseTime;
  ++figures.openReads;
  return true;
}

/// True: the transfer is over.
bool DecodePeer::advance(Transfer &transfer) {
  bool isLate = now() > transfer.deadline;
  if (transfer.stage != Transfer::Stage::Reading) {
    if (isLate)
      finish(transfer, /*valid=*/false);
    return isLate;
  }
  if (transfer.failed)
    return false;
  Transport::State state = transport->state(transfer.read);
  if (state == Transport::State::UnderWay) {
    if (isLate)
      giveUp(transfer); // the peer may use the slots for something else
    return false;
  }
  transport->forget(transfer.read);
  --figures.openReads;
  if (state == Transport::State::Failed) {
    transfer.failed = true;
    giveUp(transfer);
    if (transfer.link == link)
      lose("cannot be read from");
    return false;
  }
  if (transfer.link != link) {
    // The owner may only have been slow; another incarnation has other leases.
    if (contact == Contact::Connected && transfer.owner == incarnation)
      (void)send(Return{incarnation, transfer.request, transfer.generation});
    finish(transfer, /*valid=*/false);
    return true;
  }
  transfer.stage = Transfer::Stage::Returning;
  transfer.deadline = now() + leaseTime;
  (void)send(Return{incarnation, transfer.request, transfer.generation});
  return false;
}

/// Gives up a transfer: its pages are computed instead, but its slots are not
/// free yet.
void DecodePeer::giveUp(Transfer &transfer) {
  if (std::exchange(transfer.givenUp, true))
    return;
  figures.failedPages += std::ssize(transfer.loads);
  for (const Load &load : transfer.loads)
    loading.erase(load.name);
  if (!transfer.loads.empty())
    giveUp(transfer.loads[0].question, transfer.loads[0].index);
  progress = true;
}

void DecodePeer::handle(const Returned &returned) {
  auto at = std::ranges::find(transfers, returned.request, &Transfer::request);
  if (at == transfers.end() || at->stage != Transfer::Stage::Returning)
    return;
  if (!returned.valid)
    ++figures.refusedReturns;
  finish(*at, returned.valid);
  transfers.erase(at);
}

/// `valid`: the peer's records were as they should be until the read was over.
void DecodePeer::finish(Transfer &transfer, bool valid) {
  if (!valid || transfer.givenUp) {
    giveUp(transfer);
    for (Load &load : transfer.loads)
      drop(load);
  } else {
    for (const Load &load : transfer.loads) {
      if (!conversion->isIdentity() && load.isState)
        conversion->copy(load.slot.data, load.index, staging.data(),
                         transfer.firstSource);
      else if (!conversion->isIdentity())
        conversion->convert(load.slot.data, load.index, staging.data(),
                            transfer.firstSource);
      loading.erase(load.name);
      records->publish(load.slot, /*written=*/true);
      ++figures.readPages;
    }
    figures.readBytes += transfer.numSources * conversion->sourceBytes();
  }
  if (usesStaging == &transfer)
    usesStaging = nullptr;
  progress = true;
}

/// Ends links that are not used any more, once no read is in flight there.
void DecodePeer::closeLinks() {
  std::erase_if(oldLinks, [&](Transport::Peer old) {
    for (const Transfer &transfer : transfers)
      if (transfer.link == old && !transfer.failed)
        return false;
    transport->disconnect(old);
    std::erase_if(transfers, [&](Transfer &transfer) {
      if (transfer.link != old)
        return false;
      finish(transfer, /*valid=*/false);
      return true;
    });
    return true;
  });
}
