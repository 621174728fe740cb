import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Table } from '../../../lib/foundation/table.ts';
import { registerWarmUp, runWarmUp } from '../../../lib/foundation/warm-up.ts';
import { warmUpTableCalls } from '../../../lib/foundation/warm-up-table-calls.ts';
import { warmUpAppStoreQuery } from '../../../lib/stores/app-store/warm-up-query.ts';
import { warmUpRecording } from '../../../lib/validation/warm-up-validation.ts';
import { createService } from '../../../testing/create-service.ts';

beforeAll(() => {
  Object.assign(process.env, { AWS_REGION: 'eu-west-1', AWS_ACCESS_KEY_ID: 'local', AWS_SECRET_ACCESS_KEY: 'local' });
});

describe('runWarmUp', () => {
  const runs: string[] = [];
  registerWarmUp(
    async () => void runs.push('first'),
    async () => {
      throw new Error('unavailable');
    },
    async () => void runs.push('last'),
  );
  afterEach(() => {
    delete process.env.AWS_LAMBDA_INITIALIZATION_TYPE;
  });

  it('runs nothing outside Lambda', async () => {
    await runWarmUp();
    expect(runs).toEqual([]);
  });

  it('runs all tasks on Lambda and ignores failures', async () => {
    process.env.AWS_LAMBDA_INITIALIZATION_TYPE = 'on-demand';
    await runWarmUp();
    expect(runs).toEqual(['first', 'last']);
  });
});

describe('warm-ups of the first validation', () => {
  it('run the methods of the table without a table', async () => {
    await expect(warmUpTableCalls({})).resolves.toBeUndefined();
  });

  it('record a purchase and its event without a table', async () => {
    await expect(warmUpRecording(createService({} as Table))).resolves.toBeUndefined();
  });

  it('query a purchase that the App Store does not have', async () => {
    await expect(warmUpAppStoreQuery()).rejects.toMatchObject({ code: 'InvalidPayload' });
  });

  it('connect to no other machine', async () => {
    const hosts = new Set<unknown>();
    const onSocket = (message: unknown): void => {
      const { socket } = message as { readonly socket: Socket };
      socket.on('lookup', (_error, _address, _family, host) => void hosts.add(host));
      socket.on('connect', () => void hosts.add(socket.remoteAddress));
    };
    subscribe('net.client.socket', onSocket);
    await Promise.allSettled([
      warmUpTableCalls({}),
      warmUpRecording(createService({} as Table)),
      warmUpAppStoreQuery(),
    ]);
    unsubscribe('net.client.socket', onSocket);
    expect([...hosts]).toEqual(['127.0.0.1']);
  });
});
