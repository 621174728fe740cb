import type { Clock } from '../emulator/clock.ts';
import { startEmulator } from '../emulator/start-emulator.ts';
import { validateReceipt } from '../lib/api/validation.ts';
import { createApp, type IssuedApiKeys } from '../lib/apps/manage-apps.ts';
import { deps } from '../lib/deps.ts';
import type { Platform } from '../lib/shared/platform.ts';
import { startSecretsManager } from '../local/secrets-manager.ts';
import { buildBasicAuth, type CallResult, callEndpoint } from './call.ts';
import { createUniqueName } from './given.ts';
import { createTestTable } from './table.ts';

/** The real handlers on the real table engine, beside an emulator of the stores with a clock that both live by. */
export interface TestService {
  readonly emulatorUrl: string;
  /** An application whose settings for the platforms are the emulator's, with `changes` made to them. */
  createApp(platforms: readonly Platform[], changes?: object, name?: string): Promise<IssuedApiKeys>;
  /** A call of the emulator's control API; throws what it refuses. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape.
  callControl(path: string, body?: object): Promise<any>;
  /** Has the emulated stores work again. */
  clearFaults(): Promise<void>;
  validate(keys: IssuedApiKeys, body: object): Promise<CallResult>;
  close(): Promise<void>;
}

export async function startTestService(table?: string): Promise<TestService> {
  await createTestTable(table);
  const secrets = await startSecretsManager({ 'master-key': 'the-master-secret-of-the-tests' });
  const { realNow, clock } = createOffsetClock();
  const emulator = await startEmulator({ port: 0, clock });
  // The service reads the time only here, so that moving the emulator's clock moves the service's.
  Date.now = () => clock.now();
  Object.assign(process.env, {
    MASTER_KEY_ID: 'master-key',
    AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.endpoint,
    STORE_EMULATOR_URL: emulator.url,
    STORE_EMULATOR_ROOT: emulator.rootCertificate.toString('base64'),
  });
  return {
    emulatorUrl: emulator.url,
    async createApp(platforms, changes = {}, name = createUniqueName()) {
      const keys = await createApp(deps().apps, name, deps().now());
      for (const platform of platforms) {
        await deps().apps.setStoreSettings(keys.appName, platform, { ...emulator.settings(platform), ...changes });
      }
      return keys;
    },
    async callControl(path, body) {
      const init = body && { method: 'POST', body: JSON.stringify(body) };
      const response = await fetch(`${emulator.url}/control${path}`, init);
      const result = (await response.json()) as { message?: string };
      if (!response.ok) throw new Error(`${response.status} ${result.message}`);
      return result;
    },
    clearFaults: async () => void (await fetch(`${emulator.url}/control/faults`, { method: 'DELETE' })),
    validate: async ({ appName, publicKey }, body) =>
      await callEndpoint(validateReceipt, { headers: buildBasicAuth(appName, publicKey), body }),
    async close() {
      Date.now = realNow;
      await emulator.close();
      await secrets.close();
    },
  };
}

function createOffsetClock(): { realNow: () => number; clock: Clock } {
  const realNow = Date.now;
  let offsetMs = 0;
  const set = (ms: number) => {
    offsetMs = ms - realNow();
  };
  return { realNow, clock: { now: () => realNow() + offsetMs, set } };
}
