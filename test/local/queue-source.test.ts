import { randomUUID } from 'node:crypto';
import { CreateQueueCommand, GetQueueAttributesCommand, SendMessageCommand } from '@aws-sdk/client-sqs';
import { describe, expect, it } from '@jest/globals';
import { waitUntil } from '../../emulator/test/notification-receiver.ts';
import type { InvocationResult } from '../../local/local-function.ts';
import { startQueueServer } from '../../local/queue-server.ts';
import { pollQueue } from '../../local/queue-source.ts';
import { createSharedClock } from '../../local/shared-clock.ts';
import type { Closable } from '../../local/shutdown.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';

const server = startBeforeAll(startQueueServer);

interface Batch {
  readonly Records: readonly { readonly messageId: string; readonly body: string; readonly attributes: object }[];
}

/** Creates a queue with a dead-letter queue and consumes it with `handle`. */
async function workedOff(
  handle: (batch: Batch) => InvocationResult | Promise<InvocationResult>,
  { hiddenSeconds = 180, clock = createSharedClock() } = {},
): Promise<Closable & { url: string; dead: string; letVisibilityEnd: () => void }> {
  const name = `queue-${randomUUID()}`;
  const create = async (QueueName: string, Attributes = {}) =>
    (await server.client.send(new CreateQueueCommand({ QueueName, Attributes }))).QueueUrl ?? '';
  const dead = await create(`${name}-dead`);
  const deadLetterTargetArn = `arn:aws:sqs:eu-west-1:000000000000:${name}-dead`;
  const RedrivePolicy = JSON.stringify({ deadLetterTargetArn, maxReceiveCount: 2 });
  const url = await create(name, { VisibilityTimeout: String(hiddenSeconds), RedrivePolicy });
  const source = await pollQueue({
    url,
    arn: 'arn:aws:sqs:eu-west-1:000000000000:queue',
    batchSize: 10,
    handler: { invoke: async (payload) => handle(JSON.parse(payload)) },
    client: server.client,
    clock,
    log: () => {},
  });
  const letVisibilityEnd = () => clock.set(clock.now() + 1_000 * hiddenSeconds);
  return { url, dead, letVisibilityEnd, close: source.close };
}

const send = async (QueueUrl: string, MessageBody: string): Promise<void> => {
  await server.client.send(new SendMessageCommand({ QueueUrl, MessageBody }));
};

async function count(QueueUrl: string): Promise<number> {
  const names = ['ApproximateNumberOfMessages', 'ApproximateNumberOfMessagesNotVisible'] as const;
  const { Attributes = {} } = await server.client.send(
    new GetQueueAttributesCommand({ QueueUrl, AttributeNames: [...names] }),
  );
  return names.reduce((sum, name) => sum + Number(Attributes[name]), 0);
}

const pause = async (ms: number): Promise<void> => await new Promise((resolve) => setTimeout(resolve, ms));

describe('pollQueue', () => {
  it('invokes the function with Lambda events and deletes handled messages', async () => {
    const seen: string[] = [];
    const queue = await workedOff(({ Records }) => {
      seen.push(...Records.map(({ body }) => body));
      expect(Records[0]).toMatchObject({ eventSource: 'aws:sqs', attributes: { ApproximateReceiveCount: '1' } });
      return { result: 'null' };
    });
    await send(queue.url, 'hello');
    await waitUntil(async () => seen.length === 1);
    await waitUntil(async () => (await count(queue.url)) === 0);
    await queue.close();
    expect(seen).toEqual(['hello']);
  });

  it('redelivers only the messages in batchItemFailures', async () => {
    const seen: string[] = [];
    const queue = await workedOff(({ Records }) => {
      seen.push(...Records.map(({ body }) => body));
      const back = Records.filter(({ body }) => body === 'bad' && seen.filter((one) => one === 'bad').length === 1);
      const batchItemFailures = back.map(({ messageId }) => ({ itemIdentifier: messageId }));
      return { result: JSON.stringify({ batchItemFailures }) };
    });
    for (const body of ['good', 'bad']) await send(queue.url, body);
    await waitUntil(() => {
      queue.letVisibilityEnd();
      return seen.filter((one) => one === 'bad').length === 2;
    });
    await queue.close();
    expect(seen.filter((one) => one === 'good')).toHaveLength(1);
  });

  it('redelivers a failed message when the clock passes the visibility timeout', async () => {
    const clock = createSharedClock();
    const seen: string[] = [];
    const queue = await workedOff(
      ({ Records }) => {
        seen.push(...Records.map(({ body }) => body));
        return seen.length === 1 ? { error: 'Error: no' } : { result: 'null' };
      },
      { hiddenSeconds: 1_800, clock },
    );
    await send(queue.url, 'bad');
    await waitUntil(() => seen.length === 1);
    clock.set(clock.now() + 1_700_000);
    await pause(500);
    expect(seen).toEqual(['bad']);
    clock.set(clock.now() + 100_000);
    await waitUntil(async () => (await count(queue.url)) === 0);
    await queue.close();
    expect(seen).toEqual(['bad', 'bad']);
  });

  it('does not redeliver a message in progress, however far the clock is moved', async () => {
    const clock = createSharedClock();
    let calls = 0;
    const queue = await workedOff(
      async () => {
        calls++;
        clock.set(clock.now() + 86_400_000);
        await pause(500);
        return { result: 'null' };
      },
      { hiddenSeconds: 180, clock },
    );
    await send(queue.url, 'slow');
    await waitUntil(async () => calls > 0 && (await count(queue.url)) === 0);
    await queue.close();
    expect(calls).toBe(1);
  });

  it('finishes messages in progress when it is closed', async () => {
    let calls = 0;
    const queue = await workedOff(async () => {
      calls++;
      await pause(500);
      return { result: 'null' };
    });
    await send(queue.url, 'slow');
    await waitUntil(() => calls === 1);
    await queue.close();
    expect(await count(queue.url)).toBe(0);
  });

  it.each<[string, InvocationResult]>([
    ['that fails', { error: 'Error: no' }],
    ['that takes too long', { timedOut: true }],
    ['that returns a malformed result', { result: '"text"' }],
  ])('moves the messages of a function %s to the dead-letter queue', async (_what, ending) => {
    const queue = await workedOff(() => ending);
    await send(queue.url, 'poison');
    await waitUntil(async () => {
      queue.letVisibilityEnd();
      return (await count(queue.dead)) === 1;
    });
    await queue.close();
    expect(await count(queue.url)).toBe(0);
  });
});
