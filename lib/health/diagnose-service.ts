import type { App } from '../apps/app.ts';
import type { AppRepository } from '../apps/app-repository.ts';
import { createEventRecorder } from '../events/event-recorder.ts';
import type { EventRepository } from '../events/event-repository.ts';
import type { Cipher } from '../shared/cipher.ts';
import { ServiceError } from '../shared/errors.ts';
import type { Platform } from '../shared/platform.ts';
import { buildNotificationUrl } from '../store-notifications/notification-urls.ts';
import type { DeliveryRepository } from '../webhooks/delivery-repository.ts';
import { checkApiKeys } from './check-api-keys.ts';
import { checkNotificationRoute } from './check-notification-route.ts';
import { createEventList, type ListLatestEvents } from './check-notifications.ts';
import { checkCommissionRates, checkDueItems, checkExchangeRates, checkMasterKey } from './check-service.ts';
import { checkStoreKeys } from './check-store-keys.ts';
import { checkWebhookSecrets, checkWebhooks } from './check-webhooks.ts';
import { type DiagnosisDeps, diagnoseStoreSettings } from './diagnose-store-settings.ts';
import { createFinding, type Finding } from './finding.ts';
import type { HealthRepository } from './health-repository.ts';
import { type HealthCheck, type HealthReport, runChecks } from './run-checks.ts';

type ServiceDeps = DiagnosisDeps & {
  readonly apps: AppRepository;
  readonly cipher: Cipher;
  readonly deliveries: DeliveryRepository;
  readonly events: EventRepository;
  readonly health: HealthRepository;
  readonly storeActivities: Parameters<typeof checkStoreKeys>[1]['storeActivities'];
};

interface ServiceDiagnosisOptions {
  /** Checks this app only, and the whole service. */
  readonly appName?: string | undefined;
  /** Base URL of the API, for the notification URLs in findings. */
  readonly baseUrl: string;
  /** Checks of resources other than the table. */
  readonly otherChecks?: readonly HealthCheck[];
  /** Limit for each check. */
  readonly timeoutMs: number;
}

/**
 * Checks the apps with their stores and webhooks, and the parts of the service that they share. Throws `AppNotFound`.
 */
export async function diagnoseService(
  deps: ServiceDeps,
  { appName, baseUrl, otherChecks = [], ...limits }: ServiceDiagnosisOptions,
): Promise<HealthReport> {
  let apps: readonly ConnectedApp[] = [];
  const readApps = async (): Promise<readonly Finding[]> => {
    apps = await listApps(deps);
    return [];
  };
  const first = await runChecks(
    [
      { name: 'apps', run: readApps },
      { name: 'master key', run: async () => await checkMasterKey(deps) },
      { name: 'commission rates', run: async () => checkCommissionRates(deps.now()) },
      { name: 'due items', run: async () => await checkDueItems(deps) },
      ...otherChecks,
    ],
    limits,
  );
  const isOk = (name: string): boolean => first.checks.some((check) => check.name === name && check.result === 'ok');
  const chosenApps = apps.filter(({ app: { name } }) => appName === undefined || name === appName);
  if (isOk('apps') && appName !== undefined && chosenApps.length === 0)
    throw new ServiceError('AppNotFound', `The app ${appName} is not found.`);
  const second = await runChecks(
    [
      {
        name: 'exchange rates',
        skipReason: isOk('apps') ? undefined : 'it requires the list of apps',
        run: async () =>
          await checkExchangeRates(
            apps.map(({ app }) => app),
            deps,
          ),
      },
      ...chosenApps.flatMap((app) =>
        listAppChecks(app, {
          deps,
          baseUrl,
          skipReason: isOk('master key') ? undefined : 'it requires the master key',
          ...limits,
        }),
      ),
    ],
    limits,
  );
  return { findings: [...first.findings, ...second.findings], checks: [...first.checks, ...second.checks] };
}

/** An app with the stores for which it has settings. */
interface ConnectedApp {
  readonly app: App;
  readonly connected: readonly Platform[];
}

async function listApps({ apps }: Pick<ServiceDeps, 'apps'>): Promise<ConnectedApp[]> {
  const present = (await apps.list()).filter(({ deletedAt }) => deletedAt === undefined);
  return await Promise.all(
    present.map(async (app) => ({ app, connected: await apps.listConnectedPlatforms(app.name) })),
  );
}

interface AppCheckContext {
  readonly deps: ServiceDeps;
  readonly baseUrl: string;
  /** Why checks that decrypt are skipped. */
  readonly skipReason: string | undefined;
  /** Limit for each check. */
  readonly timeoutMs: number;
}

type StoreCheckContext = AppCheckContext & { readonly listLatestEvents: ListLatestEvents };

function listAppChecks({ app, connected }: ConnectedApp, context: AppCheckContext): HealthCheck[] {
  const { deps, skipReason } = context;
  const { name } = app;
  const listLatestEvents = createEventList(name, deps);
  return [
    { name: 'stores', app: name, run: async () => (connected.length > 0 ? [] : [createStoresMissingFinding(name)]) },
    { name: 'store keys', app: name, run: async () => await checkStoreKeys(name, deps) },
    { name: 'webhooks', app: name, run: async () => await checkWebhooks(app, deps) },
    { name: 'webhook secrets', app: name, skipReason, run: async () => await checkWebhookSecrets(app, deps) },
    { name: 'API keys', app: name, run: async () => checkApiKeys(app, deps.now()) },
    ...connected.flatMap((platform) => listStoreChecks({ app: name, platform }, { ...context, listLatestEvents })),
  ];
}

const createStoresMissingFinding = (app: string): Finding =>
  createFinding(
    'stores-missing',
    {
      problem: `The app ${app} is not connected to a store, so it cannot validate purchases.`,
      cure: `Run \`app set-store ${app} <platform> <file>\` for each store of the app.`,
    },
    { app },
  );

function listStoreChecks(
  scope: { readonly app: string; readonly platform: Platform },
  { deps, baseUrl, skipReason, timeoutMs, listLatestEvents }: StoreCheckContext,
): HealthCheck[] {
  const { app, platform } = scope;
  const url = buildNotificationUrl(baseUrl, app, platform);
  const diagnose = async (): Promise<readonly Finding[]> => {
    const recorder = createEventRecorder({ type: 'settings.checked', date: deps.now() });
    return (await diagnoseStoreSettings(app, platform, { recorder, deps })).findings;
  };
  return [
    { name: 'store settings', ...scope, skipReason, run: diagnose },
    {
      name: 'notifications',
      ...scope,
      run: async () =>
        await checkNotificationRoute(
          { ...scope, url, timeoutMs, canDecrypt: skipReason === undefined, listLatestEvents },
          deps,
        ),
    },
  ];
}
