import type { Clock } from '../emulator/clock.ts';
import { startEmulator } from '../emulator/start-emulator.ts';
import { createApp, type IssuedApiKeys } from '../lib/apps/manage-apps.ts';
import { setStoreSettings } from '../lib/apps/store-settings-table.ts';
import { getService } from '../lib/foundation/get-service.ts';
import type { Platform } from '../lib/foundation/platform.ts';
import { minuteMs, secondMs } from '../lib/foundation/time.ts';
import { validateReceipt } from '../lib/validation/contract.ts';
import { startSecretsManager } from '../local/secrets-manager.ts';
import { buildBasicAuth, type CallResult, callEndpoint } from './call.ts';
import { createUniqueName, testMasterSecret } from './given.ts';
import { getStoreKeys } from './run-keys.ts';
import { createTestTable } from './table.ts';
import { waitFor } from './wait-for.ts';

/** A notification of an emulated store and the attempts to deliver it. */
export interface NotificationDelivery {
  readonly attempts: readonly { readonly status?: number }[];
}

/** The real handlers on a table engine, and an emulator of the stores. Both use the same clock, which tests move. */
export interface TestService {
  readonly emulatorUrl: string;
  /** Creates an app with the emulator's settings for the platforms. `changes` replace fields of these settings. */
  createApp(platforms: readonly Platform[], changes?: object, name?: string): Promise<IssuedApiKeys>;
  /** Calls the emulator's control API: POST if there is a body. Throws `<status> <message>` for an error response. */
  // biome-ignore lint/suspicious/noExplicitAny: tests read responses of every shape.
  callControl(path: string, body?: object): Promise<any>;
  /** Waits before each change through `callControl('/clock', …)`, so that a test does not make notifications late. */
  readonly clockWaits: Set<() => Promise<void>>;
  /** Sets the URL to which a store posts notifications; null stops them. */
  setNotificationUrl(platform: Platform, url: string | null): Promise<void>;
  /** Changes settings of the developer's account at a store. */
  changeAccount(platform: Platform, settings: object): Promise<void>;
  /** Waits until the stores have posted each pending notification at least once. */
  waitUntilNotified(): Promise<void>;
  /** Stops the clock one second from now, until the next change through `callControl('/clock', …)`. */
  freezeClock(): void;
  /** Sets the clock of the service and of the stores, also back, unlike the control API. */
  setTime(time: number): void;
  /** Removes all purchases of the stores, so that they do not renew in later tests. */
  resetStores(): Promise<void>;
  /** Removes the faults of all emulated stores. */
  clearFaults(): Promise<void>;
  /** Calls `POST /v1/validate` with the public key. */
  validate(keys: IssuedApiKeys, body: object): Promise<CallResult>;
  close(): Promise<void>;
}

/** Starts the service on a table of this name, or on the table of the test run. Replaces `Date.now` until `close`. */
export async function startTestService(table?: string): Promise<TestService> {
  await createTestTable(table);
  const secrets = await startSecretsManager({ 'master-key': testMasterSecret });
  const { realNow, clock, freeze } = createOffsetClock();
  const emulator = await startEmulator({
    port: 0,
    clock,
    keys: getStoreKeys(),
    // A busy machine must not turn a response into a timeout, whose retry is due on the emulated clock.
    notificationTimeoutMs: 5 * minuteMs,
  });
  // The service reads the time from Date.now only, so this clock moves the service and the emulator together.
  Date.now = () => clock.now();
  Object.assign(process.env, {
    MASTER_KEY_ID: 'master-key',
    AWS_ENDPOINT_URL_SECRETS_MANAGER: secrets.url,
    STORE_EMULATOR_URL: emulator.url,
    STORE_EMULATOR_ROOT: emulator.rootCertificate.toString('base64'),
  });
  const clockWaits: TestService['clockWaits'] = new Set();
  const callControl: TestService['callControl'] = async (path, body) => {
    if (path === '/clock' && body) for (const wait of clockWaits) await wait();
    const init = body && { method: 'POST', body: JSON.stringify(body) };
    const response = await fetch(`${emulator.url}/control${path}`, init);
    const result = (await response.json()) as { message?: string };
    if (!response.ok) throw new Error(`${response.status} ${result.message}`);
    return result;
  };
  return {
    emulatorUrl: emulator.url,
    callControl,
    clockWaits,
    async createApp(platforms, changes = {}, name = createUniqueName()) {
      const keys = await createApp(getService(), name, getService().now());
      for (const platform of platforms) {
        await setStoreSettings(getService(), keys.appName, platform, { ...emulator.settings(platform), ...changes });
      }
      return keys;
    },
    async setNotificationUrl(platform, url) {
      const init = { method: 'PUT', body: JSON.stringify({ url }) };
      await fetch(`${emulator.url}/control/notifications/${platform}`, init);
    },
    async changeAccount(platform, settings) {
      const init = { method: 'PUT', body: JSON.stringify(settings) };
      const response = await fetch(`${emulator.url}/control/accounts/${platform}`, init);
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
    },
    async waitUntilNotified() {
      const listWaiting = async (): Promise<readonly NotificationDelivery[]> =>
        (await callControl('/notifications?state=waiting')).notifications;
      // Only these: a test may have thousands of delivered notifications.
      await waitFor('notifications of the stores', listWaiting, (waiting) =>
        waiting.every(({ attempts }) => attempts.length > 0),
      );
    },
    resetStores: emulator.reset,
    freezeClock: freeze,
    setTime: clock.set,
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

/** Creates a clock that runs with real time from the time it was last set to, until `freeze`. */
function createOffsetClock(): { realNow: () => number; clock: Clock; freeze: () => void } {
  const realNow = Date.now;
  let offsetMs = 0;
  let frozenAt: number | undefined;
  const now = () => frozenAt ?? realNow() + offsetMs;
  return {
    realNow,
    clock: {
      now,
      set: (ms) => {
        offsetMs = ms - realNow();
        frozenAt = undefined;
      },
    },
    freeze: () => {
      frozenAt = now() + secondMs;
    },
  };
}
