import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { playDemo, readDemoService } from '../../local/demo.ts';
import { buildBasicAuth } from '../../testing/call.ts';
import { callLocalControl, type Json } from '../../testing/call-local.ts';
import { startLocalService } from '../../testing/local-service.ts';
import { startBeforeAll } from '../../testing/start-before-all.ts';
import { waitFor } from '../../testing/wait-for.ts';

const service = startBeforeAll(startLocalService);

describe('npm run demo', () => {
  it('shows each request and response until the renewal, for a customer who has not bought before', async () => {
    const order = {
      platform: 'store_a',
      productId: 'premium',
      type: 'paid subscription',
      applicationUsername: 'alice',
    };
    await callLocalControl(service, '/purchases', order);
    const printed: string[] = [];
    await playDemo({ ...service, app: service.appName }, (text) => printed.push(text));
    const text = printed.join('\n');
    expect(text.match(/^\d\. .*/gm)?.map((title) => title.slice(0, 2))).toEqual(['1.', '2.', '3.', '4.', '5.', '6.']);
    expect(text).toContain('2. alice-2 buys');
    expect(text).toContain(`curl ${service.baseUrl}/v3/customers/alice-2/entitlements -u ${service.appName}:`);
    expect(text.match(/"isActive": \w+/g)).toEqual(['"isActive": true', '"isActive": false']);
    expect(text).toContain('"reason": "RENEWED"');
  });

  it('renews the subscriptions of earlier runs, so that their customers keep access', async () => {
    const demo = { ...service, app: service.appName };
    await playDemo(demo, () => {});
    const hasAccess = async () => {
      const response = await fetch(`${service.baseUrl}/v3/customers/alice-2/entitlements`, {
        headers: buildBasicAuth(service.appName, service.secretKey),
      });
      return ((await response.json()) as Json).entitlements.premium.isActive;
    };
    await waitFor('the renewal for alice-2', hasAccess);
  });

  it('names the next step after the secret key was replaced', async () => {
    const printed: string[] = [];
    const replaced = { ...service, app: service.appName, secretKey: 'sec_replaced' };
    await expect(playDemo(replaced, (text) => printed.push(text))).rejects.toThrow('start it again.');
    expect(printed).toEqual([]);
  });

  it('names the next step without a service, and with real stores', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'claimcheck-demo-'));
    expect(() => readDemoService(folder)).toThrow('Run npm start in another terminal');
    rmSync(folder, { recursive: true });
    const { emulatorUrl: _url, ...real } = { ...service, app: service.appName };
    await expect(playDemo(real, () => {})).rejects.toThrow('Start without STORES=real.');
  });
});
