import { Session } from 'node:inspector/promises';

/*
 * Preloaded into the service by `bench load`: profiles the main thread and the threads of the functions from the
 * message `start` of the parent process to `stop`, whose reply is the list of their profiles.
 */

const session = new Session();
session.connect();
const threads = new Set<string>();
const replies = new Map<number, { readonly thread: string; resolve(result: object): void }>();
let sent = 0;

session.on('NodeWorker.attachedToWorker', ({ params: { sessionId } }) => threads.add(sessionId));
session.on('NodeWorker.detachedFromWorker', ({ params: { sessionId } }) => {
  threads.delete(sessionId);
  for (const [id, { thread, resolve }] of replies) {
    if (thread !== sessionId) continue;
    replies.delete(id);
    resolve({});
  }
});
session.on('NodeWorker.receivedMessageFromWorker', ({ params: { message } }) => {
  const { id, result } = JSON.parse(message);
  replies.get(id)?.resolve(result);
  replies.delete(id);
});
await session.post('NodeWorker.enable', { waitForDebuggerOnStart: false });

/** Calls a method of the inspector of a thread. A thread that has ended returns an empty object. */
const callThread = async (sessionId: string, method: string): Promise<{ readonly profile?: object }> =>
  await new Promise((resolve) => {
    const id = ++sent;
    replies.set(id, { thread: sessionId, resolve });
    session.post('NodeWorker.sendMessageToWorker', { sessionId, message: JSON.stringify({ id, method }) });
  });

async function start(): Promise<object[]> {
  await session.post('Profiler.enable');
  await session.post('Profiler.start');
  for (const thread of threads) {
    await callThread(thread, 'Profiler.enable');
    await callThread(thread, 'Profiler.start');
  }
  return [];
}

async function stop(): Promise<object[]> {
  const ended = [...threads].map(async (thread) => await callThread(thread, 'Profiler.stop'));
  const results = [await session.post('Profiler.stop'), ...(await Promise.all(ended))];
  return results.flatMap(({ profile }) => (profile ? [profile] : []));
}

process.on('message', async (message) => {
  process.send?.(message === 'start' ? await start() : await stop());
});
// The service ends without waiting for the parent.
process.channel?.unref();
