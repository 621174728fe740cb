import { afterEach, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { SQSEvent } from 'aws-lambda';
import * as v from 'valibot';
import { handleBatch } from '../../../lib/foundation/handle-batch.ts';
import type { Service } from '../../../lib/foundation/service.ts';
import { createService } from '../../../testing/create-service.ts';
import { createTestTable } from '../../../testing/table.ts';

const logged = jest.spyOn(console, 'error').mockImplementation(() => {});
afterEach(() => void logged.mockClear());

let service: Service;
beforeAll(async () => {
  service = createService(await createTestTable('handle-batch'));
});

const toEvent = (...messages: unknown[]) =>
  ({
    Records: messages.map((message, index) => ({ messageId: `m${index + 1}`, body: JSON.stringify(message) })),
  }) as SQSEvent;

const handle = async (message: unknown) =>
  await handleBatch(service, toEvent(message), {
    worker: 'send-webhook',
    schema: v.object({ attempt: v.number() }),
    handle: async () => {
      throw new Error('out of order');
    },
  });

describe('handleBatch', () => {
  it.each([
    ['the app and the delivery', { attempt: 1, appName: 'pix', deliveryId: 'd1', eventId: 'e1' }],
    ['the app and the purchase', { attempt: 1, appName: 'pix', purchaseId: 'store_a:1' }],
    ['the app of a message that does not match its schema', { appName: 'pix', refundRequestId: 'r1' }],
  ])('names %s of a failed message in the log', async (_name, message) => {
    expect(await handle(message)).toEqual({ batchItemFailures: [{ itemIdentifier: 'm1' }] });
    const { appName, attempt: _attempt, ...ids } = { attempt: 0, ...message };
    expect(logged.mock.calls).toEqual([[expect.objectContaining({ worker: 'send-webhook', app: appName, ...ids })]]);
  });

  it('logs only the id of a message without ids', async () => {
    await handle(['secret']);
    expect(logged.mock.calls).toEqual([[expect.objectContaining({ worker: 'send-webhook', messageId: 'm1' })]]);
    expect(JSON.stringify(logged.mock.calls)).not.toContain('secret"');
  });

  it('shares the calls of its messages, and gives each one the same record of the batch', async () => {
    const batches = new Set<unknown>();
    const batchGet = jest.fn(service.table.batchGet);
    await handleBatch({ ...service, table: { ...service.table, batchGet } }, toEvent('a', 'b'), {
      worker: 'send-webhook',
      schema: v.string(),
      handle: async (batch, name) => {
        batches.add(batch.batch);
        await batch.table.get({ pk: name, sk: 'S' });
      },
    });
    expect([batchGet.mock.calls.length, batches.size, batches.has(undefined)]).toEqual([1, 1, false]);
  });
});
