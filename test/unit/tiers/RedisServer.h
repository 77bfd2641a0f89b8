//===- RedisServer.h - A server of a test's own -----------------*- C++ -*-===//

#ifndef KV_TEST_UNIT_TIERS_REDISSERVER_H
#define KV_TEST_UNIT_TIERS_REDISSERVER_H

#include "test/unit/TemporaryFile.h"

#include <hiredis/hiredis.h>

#include <csignal>
#include <fcntl.h>
#include <memory>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace kv::test {

/// A redis-server on a Unix socket in a folder of its own, which keeps nothing
/// on a disk. It ends with the thread that has started it.
class RedisServer {
public:
  explicit RedisServer(std::vector<std::string> options = {})
      : options(std::move(options)) {
    start();
  }
  ~RedisServer() { kill(); }
  RedisServer(const RedisServer &) = delete;

  std::string address(const std::string &query = "") const {
    return "unix://" + socket() + query;
  }
  std::string socket() const { return folder.path() + "/redis.sock"; }

  /// False: it does not answer.
  bool start() {
    std::vector<std::string> arguments = {KV_REDIS_SERVER,
                                          "--port",
                                          "0",
                                          "--unixsocket",
                                          socket(),
                                          "--save",
                                          "",
                                          "--appendonly",
                                          "no",
                                          "--dir",
                                          folder.path(),
                                          "--loglevel",
                                          "warning"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    std::vector<char *> raw;
    for (std::string &argument : arguments)
      raw.push_back(argument.data());
    raw.push_back(nullptr);
    std::string log = folder.path() + "/log";
    process = fork();
    if (process == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      int file = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
      dup2(file, STDOUT_FILENO);
      execv(raw[0], raw.data());
      _exit(127);
    }
    for (int i = 0; i < 1000; ++i) {
      if (command({"PING"}) != "") // an error is an answer too
        return true;
      usleep(10'000);
    }
    return false;
  }
  void stop() const { ::kill(process, SIGSTOP); }
  void resume() const { ::kill(process, SIGCONT); }
  void kill() {
    if (process > 0) {
      ::kill(process, SIGKILL);
      waitpid(process, nullptr, 0);
    }
    process = -1;
  }

  struct Free {
    void operator()(redisReply *reply) const { freeReplyObject(reply); }
  };
  using Reply = std::unique_ptr<redisReply, Free>;

  /// Null: there is no answer within a second.
  Reply ask(const std::vector<std::string> &arguments) const {
    std::unique_ptr<redisContext, decltype(&redisFree)> context(
        redisConnectUnixWithTimeout(socket().c_str(), {1, 0}), redisFree);
    if (!context || context->err)
      return nullptr;
    redisSetTimeout(context.get(), {1, 0});
    std::vector<const char *> texts;
    std::vector<size_t> sizes;
    for (const std::string &argument : arguments) {
      texts.push_back(argument.data());
      sizes.push_back(argument.size());
    }
    return Reply(static_cast<redisReply *>(
        redisCommandArgv(context.get(), static_cast<int>(texts.size()),
                         texts.data(), sizes.data())));
  }
  /// A reply that is a text, also of an error; empty: another, or none.
  std::string command(const std::vector<std::string> &arguments) const {
    Reply reply = ask(arguments);
    return reply && reply->str ? std::string(reply->str, reply->len) : "";
  }
  /// The keys of records.
  std::vector<std::string> records() const {
    std::vector<std::string> keys;
    if (Reply reply = ask({"KEYS", "kv1:*"}))
      for (size_t i = 0; i < reply->elements; ++i) {
        const redisReply &one = *reply->element[i];
        std::string key(one.str, one.len);
        if (!key.ends_with(":epoch"))
          keys.push_back(key);
      }
    return keys;
  }
  std::string epochKey() const {
    Reply reply = ask({"KEYS", "kv1:*:epoch"});
    return reply && reply->elements == 1
               ? std::string(reply->element[0]->str, reply->element[0]->len)
               : "";
  }

private:
  TemporaryFolder folder;
  std::vector<std::string> options;
  pid_t process = -1;
};

} // namespace kv::test

#endif // KV_TEST_UNIT_TIERS_REDISSERVER_H
