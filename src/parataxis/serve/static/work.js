// Splitting the text of a session: from the beginning, or on from where it stopped.

import { Refusal, streamSplits } from "./api.js";

/**
 * Runs until all is done, or it is stopped or refused. What was made stays.
 * @param {import("./state.js").Session} session @param {AbortSignal} signal
 * @returns {Promise<Refusal | null>} why it stopped, where that was not the writer's wish
 */
export async function work(session, signal) {
  const rest = session.rest();
  if (!(rest.text ?? rest.sentences.join("")).trim()) { // only the last line of the answer was lost
    session.enter("done");
    return null;
  }
  session.enter("running");
  try {
    await streamSplits(rest, {
      signal,
      onStart: (sentences) => session.expect(sentences),
      onSplit: (split) => session.add([split]),
    });
  } catch (error) {
    session.enter("stopped");
    if (error instanceof Refusal) return error;
    if (signal.aborted) return null;
    throw error;
  }
  session.enter("done");
  return null;
}
