// What the samples have in common: options from the environment.
#pragma once

#include <cstdlib>
#include <iostream>

#include "matchmaker/matchmaker.h"

inline std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

inline matchmaker::Options sampleOptions(matchmaker::Transport& transport) {
  matchmaker::Options o;
  o.url = variable("MM_URL");
  o.project = variable("MM_PROJECT");
  o.token = [](matchmaker::Why, const std::function<void(matchmaker::Token)>& reply) {
    reply({variable("MM_TOKEN"), ""});  // a game asks its own backend
  };
  o.transport = &transport;
  return o;
}

/** Says how a search ended. */
inline int sayEnd(const matchmaker::Update& end) {
  if (end.error) std::cerr << end.error.playerMessage() << std::endl;
  if (end.state != matchmaker::Update::State::Matched) return 1;
  std::cout << "connection " << end.match.connection << std::endl;
  return 0;
}
