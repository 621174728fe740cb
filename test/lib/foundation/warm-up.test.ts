import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { rehearseTableCalls } from '../../../lib/foundation/rehearse-table-calls.ts';
import type { Table } from '../../../lib/foundation/table.ts';
import { registerWarmUp, runWarmUp } from '../../../lib/foundation/warm-up.ts';
import { rehearseAppStoreQuery } from '../../../lib/stores/app-store/rehearse-query.ts';
import { rehearseRecording } from '../../../lib/validation/rehearse-validation.ts';
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

describe('rehearsals of the first validation', () => {
  it('run the methods of the table without a table', async () => {
    await expect(rehearseTableCalls({})).resolves.toBeUndefined();
  });

  it('record a purchase and its event without a table', async () => {
    await expect(rehearseRecording(createService({} as Table))).resolves.toBeUndefined();
  });

  it('query a purchase that the App Store does not have', async () => {
    await expect(rehearseAppStoreQuery()).rejects.toMatchObject({ code: 'InvalidPayload' });
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
      rehearseTableCalls({}),
      rehearseRecording(createService({} as Table)),
      rehearseAppStoreQuery(),
    ]);
    unsubscribe('net.client.socket', onSocket);
    expect([...hosts]).toEqual(['127.0.0.1']);
  });
});
