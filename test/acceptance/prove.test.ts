import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Platform } from '../../lib/shared/platform.ts';
import type { LocalService } from '../../local/start-local.ts';
import { callLocalControl, type Json, letSettingsTakeEffect } from '../../testing/call-local.ts';
import { type CommandOutcome, runCommand, runSuccessfully } from '../../testing/command-line.ts';
import { startLocalService } from '../../testing/local-service.ts';
import { sampleItems } from '../../testing/sample.ts';

const provenPlatforms = ['store_a', 'store_b', 'store_c', 'processor_a', 'processor_b'] as const;

let folder: string;
let service: LocalService;
beforeAll(async () => {
  folder = process.env.PROOF_FOLDER ?? (await mkdtemp(join(tmpdir(), 'claimcheck-proof-')));
  service = await startLocalService();
});
afterAll(async () => {
  await service?.close();
  if (process.env.PROOF_FOLDER === undefined) await rm(folder, { recursive: true, force: true });
});

const prove = async (platform: Platform, name: string, args: readonly string[] = []): Promise<CommandOutcome> =>
  await runCommand(service.environment, [
    ...['--json', 'prove', service.appName, platform, '--sandbox', '--report', join(folder, name)],
    ...args,
  ]);

const put = async (path: string, body: object): Promise<void> => {
  const init = { method: 'PUT', body: JSON.stringify(body) };
  expect((await fetch(`${service.emulatorUrl}/control${path}`, init)).status).toBe(200);
};

describe('prove', () => {
  it.each(sampleItems(provenPlatforms, 2))('sees each step of %s and records no personal value', async (platform) => {
    const { code, out, error } = await prove(platform, `${platform}.md`, ['--wait', '120']);
    if (out === '') throw new Error(error);
    const { findings, steps } = JSON.parse(out);
    const unseen = steps.filter(({ result }: Json) => result !== 'seen');
    expect({ code, findings, unseen }).toEqual({ code: 0, findings: [], unseen: [] });
    expect(await readFile(join(folder, `${platform}.md`), 'utf8')).toContain(`# Proof of ${platform}`);
    const recording = await readFile(join(folder, `${platform}.recording.json`), 'utf8');
    const { platforms } = await callLocalControl(service, '/purchases');
    const { purchases } = platforms.find((store: Json) => store.platform === platform);
    for (const { id } of purchases) expect(recording).not.toContain(id);
    expect(recording).not.toMatch(/prove-[\da-f]{8}|com\.example|sk_live|PRIVATE KEY/);
  });

  const changeSettings = async (platform: Platform, changes: object): Promise<void> => {
    const settings = await callLocalControl(service, `/settings/${platform}`);
    const changed = JSON.stringify({ ...settings, ...changes });
    await runSuccessfully(service.environment, ['app', 'set-store', service.appName, platform, '-'], changed);
    await letSettingsTakeEffect(service);
  };
  const withoutUrl = (platform: Platform) => async () => {
    await put(`/notifications/${platform}`, { url: null });
  };
  const withProblem = (platform: Platform, problem: string) => async () => {
    await put(`/accounts/${platform}`, { problem });
  };

  it.each([
    ['a missing URL', 'store_a', withoutUrl('store_a'), 'notifications-never-received', /App Store Connect has no/],
    [
      'another audience',
      'store_b',
      async () => await changeSettings('store_b', { pushAudience: 'https://example.com' }),
      'notifications-never-received',
      /pushAudience/,
    ],
    ['a missing access', 'store_b', withProblem('store_b', 'no-access'), 'store-permission-missing', /Play Console/],
    ['an expired secret', 'store_c', withProblem('store_c', 'secret-expired'), 'store-credentials-expired', /secret/],
    [
      'another signing secret',
      'processor_a',
      async () => await changeSettings('processor_a', { webhookSecrets: ['whsec_of_another_endpoint'] }),
      'store-notifications-unverifiable',
      /webhookSecrets/,
    ],
    ['a missing URL', 'processor_a', withoutUrl('processor_a'), 'notifications-never-received', /no webhook endpoint/],
    ['a missing URL', 'processor_b', withoutUrl('processor_b'), 'notifications-never-received', /control panel/],
  ] as const)('names %s at %s', async (_fault, platform, plant, code, text) => {
    const { notificationUrl } = { notificationUrl: `${service.baseUrl}/v3/webhook/${platform}/${service.appName}` };
    await plant();
    try {
      const outcome = await prove(platform, 'fault.json', ['--steps', 'buy', '--wait', '8']);
      if (outcome.out === '') throw new Error(outcome.error);
      const { findings } = JSON.parse(outcome.out);
      expect(findings).toMatchObject([{ code, platform }]);
      expect(JSON.stringify(findings)).toMatch(text);
      expect(outcome.code).toBe(3);
    } finally {
      await put(`/accounts/${platform}`, { problem: null });
      if (platform !== 'store_c') await put(`/notifications/${platform}`, { url: notificationUrl });
      await changeSettings(platform, {});
    }
  });
});
