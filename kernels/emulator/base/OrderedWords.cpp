//===- OrderedWords.cpp - Who touched a word, by clocks -------------------===//

#include "OrderedWords.h"

using namespace kv::cuda;

void OrderedWords::reset(int bytes) {
  words.resize(std::max(words.size(), size_t(bytes + 3) / 4));
  for (Word &word : words) {
    word.kind = Kind::Unwritten;
    word.readers.clear();
  }
}

std::string OrderedWords::actorName(int actor) const {
  if (clocks.isThread(actor))
    return "thread " + std::to_string(actor);
  if (clocks.isGroup(actor))
    return "a product of warpgroup " + std::to_string(actor - clocks.threads());
  return "a box";
}

bool OrderedWords::race(int actor, const char *what, int other, int word) {
  report("race: " + actorName(actor) + " " + what + " " + actorName(other) +
         " at byte " + std::to_string(word * 4) + " of shared memory");
  return false;
}

/// A thread's `box` is read where its stores are fenced, as a product's are.
bool OrderedWords::checkRead(int actor, const Knowledge &known, int index,
                             bool box) {
  const Word &word = words[index];
  switch (word.kind) {
  case Kind::Unwritten:
    report(actorName(actor) + " reads what nobody wrote at byte " +
           std::to_string(index * 4) + " of shared memory");
    return false;
  case Kind::Barrier:
    return race(actor, "reads the mbarrier of", word.writer, index);
  case Kind::Copying:
    return race(actor, "reads under the copy of", word.writer, index);
  case Kind::Boxing:
    return race(actor, "reads under the box of", word.writer, index);
  case Kind::Stored:
    if (actor != word.writer && known.seen[word.writer] < word.written)
      return race(actor, "reads unordered with the write of", word.writer,
                  index);
    if ((box || !clocks.isThread(actor)) &&
        known.fenced[word.writer] < word.written)
      return race(actor, "reads without fenceAsync() what was written by",
                  word.writer, index);
    return true;
  case Kind::Boxed:
    if (known.seen[word.writer] < word.written)
      return race(actor, "reads, its phase not awaited, what was copied by",
                  word.writer, index);
    return true;
  }
  return true;
}

bool OrderedWords::checkWrite(int thread, int index, bool box) {
  const Word &word = words[index];
  const Knowledge &known = clocks.of(thread);
  switch (word.kind) {
  case Kind::Unwritten:
    break;
  case Kind::Barrier:
    return race(thread, "writes over the mbarrier of", word.writer, index);
  case Kind::Copying:
    return race(thread, "writes under the copy of", word.writer, index);
  case Kind::Boxing:
    return race(thread, "writes under the box of", word.writer, index);
  case Kind::Stored:
    if (known.seen[word.writer] < word.written)
      return race(thread, "writes unordered with the write of", word.writer,
                  index);
    if (box && known.fenced[word.writer] < word.written)
      return race(thread, "copies a box without fenceAsync() over a store of",
                  word.writer, index);
    break;
  case Kind::Boxed:
    if (known.seen[word.writer] < word.written)
      return race(thread, "writes, its phase not awaited, over", word.writer,
                  index);
    break;
  }
  for (const Reader &reader : word.readers)
    if (known.seen[reader.actor] < reader.moment)
      return race(thread,
                  box ? "copies a box unordered with the read of"
                      : "writes unordered with the read of",
                  reader.actor, index);
  return true;
}

void OrderedWords::addReader(const Knowledge &known, Word &word, int actor,
                             Moment moment) {
  // A write after this read is also after the reads that this one comes after.
  std::erase_if(word.readers, [&](const Reader &reader) {
    return reader.actor == actor || known.seen[reader.actor] >= reader.moment;
  });
  word.readers.push_back({actor, moment});
}

void OrderedWords::readAll(int thread, int offset, int bytes, bool box) {
  const Knowledge &known = clocks.of(thread);
  bool good = true; // of many words that are wrong one is reported
  for (int i = offset / 4; i * 4 < offset + bytes; ++i) {
    good = good && checkRead(thread, known, i, box);
    addReader(known, words[i], thread, clocks.now(thread));
  }
}

void OrderedWords::read(int thread, int offset, int bytes) {
  readAll(thread, offset, bytes, /*box=*/false);
}

void OrderedWords::readByBox(int thread, int offset, int bytes) {
  readAll(thread, offset, bytes, /*box=*/true);
}

void OrderedWords::writeAll(int thread, int offset, int bytes, Kind kind) {
  bool good = true;
  for (int i = offset / 4; i * 4 < offset + bytes; ++i) {
    good = good && checkWrite(thread, i, kind == Kind::Boxing);
    Word &word = words[i];
    word.kind = kind;
    word.writer = thread;
    word.written = clocks.now(thread);
    word.readers.clear();
  }
}

void OrderedWords::write(int thread, int offset, int bytes) {
  writeAll(thread, offset, bytes, Kind::Stored);
}

void OrderedWords::beginCopy(int thread, int offset, int bytes) {
  writeAll(thread, offset, bytes, Kind::Copying);
}

void OrderedWords::beginBox(int thread, int offset, int bytes) {
  writeAll(thread, offset, bytes, Kind::Boxing);
}

void OrderedWords::makeBarrier(int thread, int offset, int bytes) {
  writeAll(thread, offset, bytes, Kind::Barrier);
}

void OrderedWords::dropBarrier(int thread, int offset, int bytes) {
  for (int i = offset / 4; i * 4 < offset + bytes; ++i)
    words[i].kind = Kind::Unwritten;
  write(thread, offset, bytes);
}

void OrderedWords::landCopy(int thread, int offset, int bytes) {
  for (int i = offset / 4; i * 4 < offset + bytes; ++i) {
    words[i].kind = Kind::Stored;
    words[i].written = clocks.now(thread);
  }
}

void OrderedWords::landBox(int barrierActor, Moment phase, int offset,
                           int bytes) {
  for (int i = offset / 4; i * 4 < offset + bytes; ++i) {
    words[i].kind = Kind::Boxed;
    words[i].writer = barrierActor;
    words[i].written = phase;
  }
}

bool OrderedWords::readByProduct(const Knowledge &known, int groupActor,
                                 Moment product, int offset) {
  bool good = checkRead(groupActor, known, offset / 4, /*box=*/false);
  addReader(known, words[offset / 4], groupActor, product);
  return good;
}
