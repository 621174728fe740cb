import { networkInterfaces } from 'node:os';
import { describe, expect, it } from '@jest/globals';
import { startLocal } from '../../local/start-local.ts';
import { buildStartupMessage } from '../../local/startup-message.ts';
import { callLocalService } from '../../testing/call-local.ts';
import { spawnCommand } from '../../testing/command-line.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { waitFor } from '../../testing/wait-for.ts';

const webhooks: string[] = [];
const ends: string[] = [];
const service = startBeforeAll(
  async () =>
    await startLocal({
      usesRealStores: true,
      host: '0.0.0.0',
      onWebhook: (line) => webhooks.push(line),
      onEngineEnd: (reason) => ends.push(reason),
    }),
);

describe('STORES=real npm start', () => {
  it('runs the service without an emulator, and without settings of a store', async () => {
    expect(service.emulatorUrl).toBe('');
    const { body } = await callLocalService(service, '/v3/app');
    expect(body.service).not.toHaveProperty('emulatorUrl');
    expect((await callLocalService(service, '/v3/stores')).body.rows.map((row: object) => row)).not.toContainEqual(
      expect.objectContaining({ isConnected: true }),
    );
  });

  it('trusts only the root certificates of the real stores', async () => {
    const { environment } = service;
    expect(environment).toMatchObject({ STORE_EMULATOR_URL: '', STORE_EMULATOR_ROOT: '' });
  });

  it('accepts a webhook URL of this machine, at the time of this machine', async () => {
    const { code } = await spawnCommand(service.environment, ['app', 'test-webhook', service.appName]);
    expect(code).toBe(0);
    await waitFor('the test webhook', () => webhooks.includes('Webhook  test'));
  });

  it('names the folder of its data in the startup message', () => {
    const folders = { folder: '.local', storedFolder: '.local/real-stores' };
    const options = { ...folders, isPersistent: true, isDefaultFolder: true, usesRealStores: true };
    expect(buildStartupMessage(service, options)).toMatch(/^Data {9}kept in \.local\/real-stores$/m);
  });

  it('prints the address that a phone reaches, unless the service is for this machine only', () => {
    const options = { isPersistent: false, folder: '', storedFolder: '', isDefaultFolder: true, usesRealStores: true };
    const readAddress = (host: string) =>
      /Your app validates at http:\/\/([\d.]+):/.exec(buildStartupMessage(service, { ...options, host }))?.[1];
    expect(readAddress('192.168.1.20')).toBe('192.168.1.20');
    expect(readAddress('127.0.0.1')).toBe('127.0.0.1');
    const [phone = '127.0.0.1'] = Object.values(networkInterfaces()).flatMap((list = []) =>
      list.flatMap(({ address, family, internal }) => (family === 'IPv4' && !internal ? [address] : [])),
    );
    expect(readAddress('0.0.0.0')).toBe(phone);
  });

  it('does not report the end of the table engine when it closes', async () => {
    await service.close();
    expect(ends).toEqual([]);
  });
});
