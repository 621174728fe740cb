import type { App } from '../apps/app.ts';
import { listApps } from '../apps/app-list-table.ts';
import { listConnectedPlatforms } from '../apps/store-settings-table.ts';
import { createEventRecorder } from '../events/event-recorder.ts';
import { ServiceError } from '../foundation/errors.ts';
import type { FailedItem } from '../foundation/failed-items.ts';
import type { Platform } from '../foundation/platform.ts';
import type { Service } from '../foundation/service.ts';
import { buildNotificationUrl } from '../store-notifications/notification-endpoints.ts';
import { checkApiKeys } from './check-api-keys.ts';
import { checkCredits } from './check-credits.ts';
import { checkNotificationRoute } from './check-notification-route.ts';
import { createEventList, type ListLatestEvents } from './check-notifications.ts';
import {
  checkCommissionRates,
  checkDueItems,
  checkExchangeRates,
  checkMasterKey,
  checkTableReads,
} from './check-service.ts';
import { checkStoreKeys } from './check-store-keys.ts';
import { checkWebhookSecrets, checkWebhooks } from './check-webhooks.ts';
import { diagnoseStoreSettings } from './diagnose-store-settings.ts';
import { completeCommand, createFinding, type Finding } from './finding.ts';
import { type HealthCheck, type HealthReport, runChecks } from './run-checks.ts';

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
  service: Service,
  { appName, baseUrl, otherChecks = [], ...limits }: ServiceDiagnosisOptions,
): Promise<HealthReport> {
  let { apps, failed }: ConnectedApps = { apps: [], failed: [] };
  const readApps = async (): Promise<readonly Finding[]> => {
    ({ apps, failed } = await listConnectedApps(service));
    return [];
  };
  const first = await runChecks(
    [
      { name: 'apps', run: readApps },
      { name: 'master key', run: async () => await checkMasterKey(service) },
      { name: 'commission rates', run: async () => checkCommissionRates(service.now()) },
      { name: 'table reads', run: async () => await checkTableReads(service) },
      { name: 'due items', run: async () => await checkDueItems(service) },
      ...otherChecks,
    ],
    limits,
  );
  const isOk = (name: string): boolean => first.checks.some((check) => check.name === name && check.result === 'ok');
  const isChosen = (name: string): boolean => appName === undefined || name === appName;
  const chosenApps = apps.filter(({ app }) => isChosen(app.name));
  const unreadableApps = failed.filter(({ item }) => isChosen(item));
  if (isOk('apps') && appName !== undefined && chosenApps.length + unreadableApps.length === 0)
    throw new ServiceError('AppNotFound', `The app ${appName} is not found.`);
  const second = await runChecks(
    [
      {
        name: 'exchange rates',
        skipReason: isOk('apps') ? undefined : 'it requires the list of apps',
        run: async () =>
          await checkExchangeRates(
            service,
            apps.map(({ app }) => app),
          ),
      },
      ...unreadableApps.map((app) => ({ name: 'app', app: app.item, run: async () => [createUnreadableFinding(app)] })),
      ...chosenApps.flatMap((app) =>
        listAppChecks(app, {
          service,
          baseUrl,
          skipReason: isOk('master key') ? undefined : 'it requires the master key',
          ...limits,
        }),
      ),
    ],
    limits,
  );
  return {
    findings: [...first.findings, ...second.findings].map(completeCommand),
    checks: [...first.checks, ...second.checks],
  };
}

/** An app with the stores for which it has settings. */
interface ConnectedApp {
  readonly app: App;
  readonly connected: readonly Platform[];
}

interface ConnectedApps {
  readonly apps: readonly ConnectedApp[];
  /** Apps that are not readable. */
  readonly failed: readonly FailedItem[];
}

async function listConnectedApps(service: Service): Promise<ConnectedApps> {
  const { apps, failed } = await listApps(service);
  const present = apps.filter(({ deletedAt }) => deletedAt === undefined);
  const connected = present.map(async (app) => ({ app, connected: await listConnectedPlatforms(service, app.name) }));
  return { apps: await Promise.all(connected), failed };
}

const createUnreadableFinding = ({ item: app, problem }: FailedItem): Finding =>
  createFinding(
    'app-unreadable',
    {
      problem: `The stored app ${app} is not readable: ${problem}`,
      cure: `Correct the item with the keys \`APP#${app}\` and \`APP\` of the table, or restore it from a backup.`,
    },
    { app },
  );

interface AppCheckContext {
  readonly service: Service;
  readonly baseUrl: string;
  /** Why checks that decrypt are skipped. */
  readonly skipReason: string | undefined;
  /** Limit for each check. */
  readonly timeoutMs: number;
}

type StoreCheckContext = AppCheckContext & { readonly listLatestEvents: ListLatestEvents };

function listAppChecks({ app, connected }: ConnectedApp, context: AppCheckContext): HealthCheck[] {
  const { service, skipReason } = context;
  const { name } = app;
  const listLatestEvents = createEventList(service, name);
  return [
    { name: 'stores', app: name, run: async () => (connected.length > 0 ? [] : [createStoresMissingFinding(name)]) },
    { name: 'store keys', app: name, run: async () => await checkStoreKeys(service, name) },
    { name: 'credits', app: name, run: async () => await checkCredits(service, name) },
    { name: 'webhooks', app: name, run: async () => await checkWebhooks(service, app) },
    { name: 'webhook secrets', app: name, skipReason, run: async () => await checkWebhookSecrets(service, app) },
    { name: 'API keys', app: name, run: async () => checkApiKeys(app, service.now()) },
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
  { service, baseUrl, skipReason, timeoutMs, listLatestEvents }: StoreCheckContext,
): HealthCheck[] {
  const { app, platform } = scope;
  const url = buildNotificationUrl(baseUrl, app, platform);
  const diagnose = async (): Promise<readonly Finding[]> => {
    const recorder = createEventRecorder({ type: 'settings.checked', date: service.now() });
    return (await diagnoseStoreSettings(service, app, { platform, recorder })).findings;
  };
  return [
    { name: 'store settings', ...scope, skipReason, run: diagnose },
    {
      name: 'notifications',
      ...scope,
      run: async () =>
        await checkNotificationRoute(service, {
          ...scope,
          url,
          timeoutMs,
          canDecrypt: skipReason === undefined,
          listLatestEvents,
        }),
    },
  ];
}
