import { afterEach, describe, expect, it, jest } from '@jest/globals';
import type { SQSEvent } from 'aws-lambda';
import * as v from 'valibot';
import { handleBatch } from '../../../lib/foundation/handle-batch.ts';

const logged = jest.spyOn(console, 'error').mockImplementation(() => {});
afterEach(() => void logged.mockClear());

const handle = async (message: unknown) =>
  await handleBatch({ Records: [{ messageId: 'm1', body: JSON.stringify(message) }] } as SQSEvent, {
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
});
