import type { EventRecorder } from '../events/event-recorder.ts';
import { type ErrorCode, ServiceError } from '../foundation/errors.ts';
import type { Platform } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import { createStoreContext } from '../stores/create-store-context.ts';
import { loadStore } from '../stores/index.ts';
import { findRejection, type RejectionKind } from '../stores/settings.ts';
import type { Store } from '../stores/store.ts';
import type { StoreContext } from '../stores/store-context.ts';
import { createClockFinding, isClockWrong } from './clock.ts';
import { describeError } from './describe-error.ts';
import { createFinding, type Finding, type FindingCode } from './finding.ts';

/** The result of the check of an app's settings by the store. */
export interface StoreDiagnosis {
  readonly platform: Platform;
  readonly isConnected: boolean;
  /** Sentence about the accepted credentials. Absent if the store rejects them. */
  readonly summary?: string;
  readonly findings: readonly Finding[];
}

interface DiagnosisOptions {
  readonly platform: Platform;
  /** Records the requests to the store. */
  readonly recorder: Pick<EventRecorder, 'addExternalCall'>;
}

/**
 * Checks the stored settings of the app with a few requests to the store, which change nothing there. Throws
 * `DatabaseError` if the settings cannot be read from the table.
 */
export async function diagnoseStoreSettings(
  service: Service,
  app: string,
  { platform, recorder }: DiagnosisOptions,
): Promise<StoreDiagnosis> {
  const store = await loadStore(platform);
  const context = await readContext(service, app, { platform, recorder });
  if ('findings' in context) return context;
  if (context.settings === undefined) return { platform, isConnected: false, findings: [] };
  const clock = observeClock(context);
  const result = await checkSettings(store, { ...context, fetch: clock.fetch });
  const offsetMs = clock.getOffsetMs();
  if (isClockWrong(offsetMs) || result.rejection === 'clock')
    return { platform, isConnected: true, findings: [createClockFinding(offsetMs)] };
  return { platform, isConnected: true, ...result };
}

/** Reads the settings. A value that cannot be decrypted is a finding. */
async function readContext(
  service: Service,
  app: string,
  { platform, recorder }: DiagnosisOptions,
): Promise<StoreContext | StoreDiagnosis> {
  try {
    return await createStoreContext(service, app, { platform, recorder });
  } catch (error) {
    if (error instanceof ServiceError && error.code === ('DatabaseError' satisfies ErrorCode)) throw error;
    const diagnosis = {
      problem: `The stored settings cannot be decrypted: ${describeError(error)}.`,
      cure: 'Add the former key to the secret of the master key again, or set the settings again with `app set-store`.',
    };
    return {
      platform,
      isConnected: true,
      findings: [createFinding('store-settings-unreadable', diagnosis, { app, platform })],
    };
  }
}

/**
 * Wraps the fetch of a context to compare the clock of this machine with the `Date` header of the store's responses.
 */
function observeClock({ fetch, now }: StoreContext) {
  let offsetMs: number | undefined;
  return {
    getOffsetMs: () => offsetMs,
    fetch: async (...call: Parameters<StoreContext['fetch']>) => {
      const response = await fetch(...call);
      const date = Date.parse(response.headers.date ?? '');
      if (!Number.isNaN(date)) offsetMs = now() - date;
      return response;
    },
  };
}

interface SettingsResult extends Pick<StoreDiagnosis, 'summary' | 'findings'> {
  readonly rejection?: RejectionKind;
}

async function checkSettings(store: Store, context: StoreContext): Promise<SettingsResult> {
  const scope = { app: context.appName, platform: store.platform };
  try {
    const summary = await store.checkSettings(context, { callStore: true });
    const warnings = await store.listSettingsWarnings(context);
    return {
      summary,
      findings: warnings.map(({ code, ...diagnosis }) => createFinding(`store-${code}`, diagnosis, scope)),
    };
  } catch (error) {
    const rejection = findRejection(error);
    if (rejection) {
      const diagnosis = store.describeRejection(rejection, context.settings);
      const code = rejectionCodes[rejection.rejection];
      return { rejection: rejection.rejection, findings: [createFinding(code, diagnosis, scope)] };
    }
    return { findings: [createFinding(...describeFailure(error, store), scope)] };
  }
}

const rejectionCodes: Readonly<Record<RejectionKind, FindingCode>> = {
  credentials: 'store-credentials-rejected',
  expired: 'store-credentials-expired',
  permission: 'store-permission-missing',
  app: 'store-app-unknown',
  apiDisabled: 'store-api-disabled',
  plan: 'store-plan-unknown',
  clock: 'clock-wrong',
};

function describeFailure(
  error: unknown,
  { platform }: Store,
): readonly [FindingCode, { readonly problem: string; readonly cure: string }] {
  const reason = describeError(error);
  if (ServiceError.fromUnknown(error).code === ('ConnectionFailed' satisfies ErrorCode))
    return [
      'store-unavailable',
      {
        problem: `${platform} gave no usable response: ${reason}.`,
        cure: 'Check the status page of the store and the network of this machine, and run the command again.',
      },
    ];
  return [
    'store-settings-invalid',
    {
      problem: `The settings of ${platform} are not valid: ${reason}.`,
      cure: 'Correct the settings and run `app set-store`.',
    },
  ];
}
