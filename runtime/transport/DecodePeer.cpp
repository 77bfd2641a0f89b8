//===- DecodePeer.cpp - Records that a peer computes ----------------------===//

#include "DecodePeer.h"

using namespace kv;
using namespace kv::peer;

/// Prompts that are remembered at a time.
static constexpr size_t MostQuestions = 256;
/// When a page that the peer does not have is asked for again.
static constexpr auto AskAgain = std::chrono::seconds(2);
/// Between two looks at a read.
static constexpr auto ReadPause = std::chrono::microseconds(20);

PrefixName DecodePeer::nameScope(std::span<const std::byte> scope) {
  PrefixName name = records->nameScope(scope);
  names.addScope(name, scope);
  return name;
}

PrefixName DecodePeer::namePage(const PrefixName &parent,
                                std::span<const std::byte> images,
                                std::span<const int32_t> tokens) {
  PrefixName name = records->namePage(parent, images, tokens);
  if (images.empty())
    names.addPage(name, parent, tokens);
  return name;
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

PageConnector::Place DecodePeer::find(const PrefixPage &page) {
  if (Place own = records->find(page); own != Place::Absent)
    return own;
  if (loading.contains(page.name))
    return Place::Coming;
  if (contact != Contact::Connected)
    return Place::Absent;
  if (!page.images.empty())
    return findState(page);
  const Question *question = nullptr;
  int64_t end = 0;
  if (auto at = known.find(page.name); at != known.end()) {
    question = at->second.question;
    end = (at->second.index + 1) * slots.pageSize;
    if (question->final && end > question->have &&
        now() - question->changed > AskAgain)
      question = nullptr;
  }
  if (!question && !(question = ask(page)))
    return Place::Absent;
  if (end > 0 && end <= question->have)
    return Place::Disk;
  return question->final ? Place::Absent : Place::Coming;
}

/// Peers keep the state after the last page of a question, and few others: a
/// question for a longer prefix does not stand for this one.
PageConnector::Place DecodePeer::findState(const PrefixPage &part) {
  std::optional<int32_t> index = StateMark::partOf(part.images);
  if (!index || *index < 0 || *index >= stateParts)
    return Place::Absent;
  std::optional<Known> at = locate(part);
  if (at && has(*at))
    return Place::Disk;
  const Question *question = at ? at->question : nullptr;
  bool isAsked = question && question->prefix.names.back() == part.parent;
  if (question && question->final &&
      (!isAsked || now() - question->changed > AskAgain))
    question = nullptr;
  if (!question)
    question = askAnew(part.parent, part.scope);
  return !question || question->final ? Place::Absent : Place::Coming;
}

/// Where a record is among those of a question that was asked for its prefix.
std::optional<DecodePeer::Known>
DecodePeer::locate(const PrefixPage &page) const {
  std::optional<int32_t> part = StateMark::partOf(page.images);
  auto at = known.find(part ? page.parent : page.name);
  if (at == known.end())
    return std::nullopt;
  Known found = at->second;
  if (part) {
    int64_t pages = std::ssize(found.question->prefix.names);
    found.index = pages + found.index * stateParts + *part;
    found.isState = true;
  }
  return found;
}

bool DecodePeer::has(const Known &record) const {
  const Question &question = *record.question;
  if (!record.isState)
    return (record.index + 1) * slots.pageSize <= question.have;
  int64_t pages =
      (record.index - std::ssize(question.prefix.names)) / stateParts + 1;
  return std::ranges::find(question.states, pages) != question.states.end();
}

/// Adds the page to the question that is not sent yet and ends before it, or
/// begins one. Null: the pages before this one are not known any more.
DecodePeer::Question *DecodePeer::ask(const PrefixPage &page) {
  auto before = known.find(page.parent);
  Question *question =
      before == known.end() ? nullptr : before->second.question;
  if (question && !question->sent &&
      question->prefix.names.back() == page.parent) {
    question->prefix.names.push_back(page.name);
    question->prefix.tokens.insert(question->prefix.tokens.end(),
                                   page.tokens.begin(), page.tokens.end());
  } else {
    return askAnew(page.name, page.scope);
  }
  known.insert_or_assign(
      page.name, Known{question, std::ssize(question->prefix.names) - 1});
  return question;
}

/// Begins a question for the prefix of this name. Null as above.
DecodePeer::Question *DecodePeer::askAnew(const PrefixName &name,
                                          const PrefixName &scope) {
  PrefixNames::Prefix prefix;
  if (!names.find(name, scope, prefix))
    return nullptr;
  if (questions.size() >= MostQuestions)
    forget(questions.begin());
  Question *question = &questions.emplace_back();
  question->id = ++lastId;
  question->prefix = std::move(prefix);
  known.insert_or_assign(
      name, Known{question, std::ssize(question->prefix.names) - 1});
  return question;
}

void DecodePeer::forget(std::list<Question>::iterator question) {
  for (const PrefixName &name : question->prefix.names)
    if (auto at = known.find(name);
        at != known.end() && at->second.question == &*question)
      known.erase(at);
  questions.erase(question);
}

void DecodePeer::forgetQuestions() {
  known.clear();
  questions.clear();
  figures.failedPages += std::ssize(queued);
  for (Load &load : queued)
    drop(load);
  queued.clear();
}

/// The record `index` of a question, and those after it, will not come.
void DecodePeer::giveUp(uint64_t id, int64_t index) {
  for (Question &question : questions)
    if (question.id == id) {
      question.final = true;
      if (index >= std::ssize(question.prefix.names))
        question.states.clear();
      else
        question.have = std::min(question.have, index * slots.pageSize);
      question.changed = now();
    }
}

void DecodePeer::handle(const Have &have) {
  for (Question &question : questions)
    if (question.id == have.ask) {
      if (question.final)
        return; // some of it has been given up
      question.have = std::max(question.have, have.tokens);
      question.final = have.final;
      question.states = have.states;
      question.changed = now();
      progress = true;
    }
}

//===----------------------------------------------------------------------===//
// Progress
//===----------------------------------------------------------------------===//

void DecodePeer::poll() {
  receive();
  for (auto at = transfers.begin(); at != transfers.end();)
    at = advance(*at) ? transfers.erase(at) : std::next(at);
  closeLinks();
  flush();
  watch();
  records->poll();
  figures.openAsks = static_cast<int32_t>(questions.size());
}

bool DecodePeer::wait(std::chrono::nanoseconds most) {
  Time begin = now();
  for (;;) {
    progress = false;
    poll();
    if (progress)
      return true;
    auto left = most - (now() - begin);
    bool reads = std::ranges::any_of(transfers, [](const Transfer &transfer) {
      return transfer.stage == Transfer::Stage::Reading && !transfer.givenUp;
    });
    if (!reads && !expectsAnswer())
      return records->wait(std::max(left, decltype(left)(0)));
    if (left <= decltype(left)(0))
      return false;
    if (records->metrics().diskOperations > 0) {
      if (records->wait(std::chrono::microseconds(200)))
        return true;
    } else if (reads) {
      channel->pause(ReadPause);
    } else {
      channel->wait(std::min(std::chrono::ceil<std::chrono::milliseconds>(left),
                             std::chrono::milliseconds(5)));
    }
  }
}

Expected<void> DecodePeer::reset() {
  forgetQuestions();
  for (Transfer &transfer : transfers)
    giveUp(transfer);
  return records->reset();
}
