import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Platform } from '../../lib/foundation/platform.ts';
import type { LocalService } from '../../local/start-local.ts';
import { callLocalControl, callLocalService, type Json, letSettingsTakeEffect } from '../../testing/call-local.ts';
import { type CommandOutcome, runCommand, runSuccessfully, startCommand } from '../../testing/command-line.ts';
import { startLocalService } from '../../testing/local-service.ts';
import { sampleItems } from '../../testing/sample.ts';
import { waitFor } from '../../testing/wait-for.ts';

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
  it.each(sampleItems(provenPlatforms, 1))('sees each step of %s and records no personal value', async (platform) => {
    const { code, out, error } = await prove(platform, `${platform}.md`, ['--wait', '120']);
    if (out === '') throw new Error(error);
    const { findings, steps } = JSON.parse(out);
    const unseen = steps.filter(({ result }: Json) => result !== 'seen');
    const { notifications } = await callLocalControl(service, '/notifications');
    const refused = notifications.filter(({ attempts }: Json) => attempts.some(({ status }: Json) => status !== 200));
    expect({ code, findings, unseen, refused }).toEqual({ code: 0, findings: [], unseen: [], refused: [] });
    expect(await readFile(join(folder, `${platform}.md`), 'utf8')).toContain(`# Proof of ${platform}`);
    const recording = await readFile(join(folder, `${platform}.recording.json`), 'utf8');
    const { platforms } = await callLocalControl(service, '/purchases');
    const { purchases } = platforms.find((store: Json) => store.platform === platform);
    for (const { id } of purchases) expect(recording).not.toContain(id);
    expect(recording).not.toMatch(/prove-[\da-f]{8}|com\.example|sk_live|PRIVATE KEY/);
  });

  it.each([
    ['steps without a purchase', 'a.md', ['--steps', 'renew'], 2, /buy is missing/],
    ['an unknown step', 'a.md', ['--steps', 'buy,fly'], 2, /fly is not a step/],
    ['a report that cannot be written', 'missing/a.md', [], 1, /missing\/a\.md cannot be written/],
  ] as const)('rejects %s before the first step', async (_case, name, args, code, text) => {
    const outcome = await prove('store_a', name, args);
    expect(outcome.code).toBe(code);
    expect(outcome.error).toMatch(text);
    expect(outcome.error).not.toContain('buy: ');
  });

  it('watches the steps that the owner performs with --by-hand', async () => {
    const report = join(folder, 'by-hand.json');
    const args = ['prove', service.appName, 'store_a', '--sandbox', '--by-hand', '--steps', 'buy,restore,cancel'];
    const command = await startCommand(service.environment, [...args, '--wait', '60', '--report', report]);
    const ended = once(command, 'exit');
    let written = '';
    command.stderr.setEncoding('utf8').on('data', (text: string) => {
      written += text;
    });
    const announced = async (text: string) => await waitFor(text, () => written.includes(text));
    const submit = async (validate: object, applicationUsername: string) => {
      const body = { ...validate, additionalData: { applicationUsername } };
      expect((await callLocalService(service, '/v1/validate', body)).body.ok).toBe(true);
    };
    await announced('\nbuy: Buy an auto-renewable subscription');
    const order = { platform: 'store_a', productId: 'premium', type: 'paid subscription', sandbox: true };
    const { id, validate } = await callLocalControl(service, '/purchases', { ...order, applicationUsername: 'hand-1' });
    await submit(validate, 'hand-1');
    await announced('\ncancel: Device, Settings');
    await callLocalControl(service, `/purchases/${id}/cancel`, {});
    await announced('\nrestore: Sign in to the app as a second customer');
    await submit(validate, 'hand-2');
    expect(await ended).toEqual([0, null]);
    expect(written).toContain('Before the first step:\n- App Store Connect, Users and Access, Sandbox');
    const { steps, findings } = JSON.parse(await readFile(report, 'utf8'));
    expect(findings).toEqual([]);
    expect(steps.filter(({ result }: Json) => result === 'seen').map(({ name }: Json) => name)).toEqual([
      ...['buy', 'cancel', 'restore'],
    ]);
  });

  it('names the server of the app that does not respond, without waiting for the limit', async () => {
    const setWebhook = ['app', 'set-webhook', service.appName];
    await runSuccessfully(service.environment, [...setWebhook, '--url', 'http://127.0.0.1:9/']);
    await letSettingsTakeEffect(service);
    await runSuccessfully(service.environment, ['app', 'test-webhook', service.appName]);
    await waitFor('the failed test webhook', async () => {
      const { out } = await runCommand(service.environment, ['webhooks', 'list', service.appName, '--json']);
      return JSON.parse(out).some(({ type, state }: Json) => type === 'test' && state === 'dead');
    });
    const report = join(folder, 'unseen.md');
    const args = ['prove', service.appName, 'store_c', '--sandbox', '--steps', 'buy', '--report', report];
    const { code, out } = await runCommand(service.environment, [...args, '--wait', '200']);
    expect(out).toContain('Not seen:\n- buy: webhook to the app PURCHASED\n');
    expect(out).toContain('http://127.0.0.1:9/ does not respond: ');
    expect(code).toBe(3);
    await runSuccessfully(service.environment, [...setWebhook, '--off']);
    await letSettingsTakeEffect(service);
  });

  const changeSettings = async (platform: Platform, changes: object): Promise<void> => {
    const settings = await callLocalControl(service, `/settings/${platform}`);
    const changed = JSON.stringify({ ...settings, ...changes });
    const args = ['app', 'set-store', service.appName, platform, '-', '--skip-check'];
    await runSuccessfully(service.environment, args, changed);
    await letSettingsTakeEffect(service);
  };
  const withoutUrl = (platform: Platform) => async () => {
    await put(`/notifications/${platform}`, { url: null });
  };
  const withSettings = (platform: Platform, changes: object) => async () => await changeSettings(platform, changes);
  const withProblem = (platform: Platform, problem: string) => async () => {
    await put(`/accounts/${platform}`, { problem });
  };

  const faults = [
    ['a missing URL', 'store_a', withoutUrl('store_a'), 'notifications-never-received', /App Store Connect has no/],
    ['another key', 'store_a', withSettings('store_a', { keyId: 'ABCDE12345' }), 'store-credentials-rejected', /keyId/],
    [
      'another bundle',
      'store_a',
      withSettings('store_a', { bundleId: 'com.example.other' }),
      'store-credentials-rejected',
      /bundleId/,
    ],
    [
      'another package',
      'store_b',
      withSettings('store_b', { packageName: 'com.example.other' }),
      'store-app-unknown',
      /packageName/,
    ],
    [
      'another secret',
      'store_c',
      withSettings('store_c', { clientSecret: 'secret-of-another-app' }),
      'store-credentials-rejected',
      /client secret/,
    ],
    [
      'another secret key',
      'processor_a',
      withSettings('processor_a', { secretKey: 'sk_test_of_another_account' }),
      'store-credentials-rejected',
      /secret key/,
    ],
    [
      'another private key',
      'processor_b',
      withSettings('processor_b', { privateKey: 'f'.repeat(32) }),
      'store-credentials-rejected',
      /privateKey/,
    ],
    [
      'an unknown plan',
      'processor_b',
      withSettings('processor_b', {
        catalogue: { premium: { type: 'paid subscription', planId: 'no-plan', amount: '9.99', currency: 'USD' } },
      }),
      'store-plan-unknown',
      /planId no-plan/,
    ],
    [
      'another audience',
      'store_b',
      withSettings('store_b', { pushAudience: 'https://example.com' }),
      'notifications-never-received',
      /pushAudience/,
    ],
    ['a missing access', 'store_b', withProblem('store_b', 'no-access'), 'store-permission-missing', /Play Console/],
    ['an expired secret', 'store_c', withProblem('store_c', 'secret-expired'), 'store-credentials-expired', /secret/],
    [
      'another signing secret',
      'processor_a',
      withSettings('processor_a', { webhookSecrets: ['whsec_of_another_endpoint'] }),
      'store-notifications-unverifiable',
      /webhookSecrets/,
    ],
    ['a missing URL', 'processor_a', withoutUrl('processor_a'), 'notifications-never-received', /no webhook endpoint/],
    ['a missing URL', 'processor_b', withoutUrl('processor_b'), 'notifications-never-received', /control panel/],
  ] as const;

  it.each(sampleItems(faults, 2))('names %s at %s', async (_fault, platform, plant, code, text) => {
    const { notificationUrl } = { notificationUrl: `${service.baseUrl}/v3/webhook/${platform}/${service.appName}` };
    await plant();
    try {
      const outcome = await prove(platform, 'fault.json', ['--steps', 'buy', '--wait', '1']);
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
