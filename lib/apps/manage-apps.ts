import * as v from 'valibot';
import type { Deps } from '../deps.ts';
import { Catalogue } from '../purchases/catalogue.ts';
import type { Strategy } from '../purchases/claims.ts';
import { ServiceError } from '../shared/errors.ts';
import { parse } from '../shared/parse.ts';
import type { EpochMillis } from '../shared/time.ts';
import { generateApiKey, hashApiKey } from './api-keys.ts';
import { type App, AppName } from './app.ts';

type Apps = Deps['apps'];

/** New API keys of an app in plain text, shown once. */
export interface IssuedApiKeys {
  readonly appName: string;
  readonly publicKey: string;
  readonly secretKey: string;
}

/** Creates an app with new API keys. Throws `InvalidPayload` for an invalid name and `Conflict` for an existing app. */
export async function createApp(apps: Apps, name: string, now: EpochMillis): Promise<IssuedApiKeys> {
  const { name: appName } = parse(v.object({ name: AppName }), { name });
  if (await apps.find(appName)) throw new ServiceError('Conflict', `The app ${appName} already exists.`);
  const publicKey = generateApiKey('public');
  const secretKey = generateApiKey('secret');
  await apps.create(
    {
      name: appName,
      publicKeys: [{ digest: hashApiKey(publicKey) }],
      secretKeys: [{ digest: hashApiKey(secretKey) }],
      strategy: 'all',
      vocabulary: 'neutral',
      createdAt: now,
    },
    secretKey,
  );
  return { appName, publicKey, secretKey };
}

/** Issues a new API key. The current key expires after `overlapMs`; older keys expire immediately. */
export async function rotateApiKey(
  apps: Apps,
  name: string,
  { level, overlapMs, now }: { level: 'public' | 'secret'; overlapMs: number; now: EpochMillis },
): Promise<string> {
  const app = await getApp(apps, name);
  const key = generateApiKey(level);
  const field = level === 'public' ? 'publicKeys' : 'secretKeys';
  const currentKeys = app[field].filter(({ expiresAt }) => expiresAt === undefined);
  const expiringKeys = currentKeys.map(({ digest }) => ({ digest, expiresAt: now + overlapMs }));
  await apps.update(
    { ...app, [field]: [{ digest: hashApiKey(key) }, ...expiringKeys] },
    level === 'secret' ? key : undefined,
  );
  return key;
}

/** Sets the entitlement strategy. Existing purchases change at their next update. */
export async function setStrategy(apps: Apps, name: string, strategy: Strategy): Promise<App> {
  const app = { ...(await getApp(apps, name)), strategy };
  await apps.update(app);
  return app;
}

/** Sets the vocabulary of webhooks and of responses to the secret key. */
export async function setVocabulary(apps: Apps, name: string, vocabulary: App['vocabulary']): Promise<void> {
  await apps.update({ ...(await getApp(apps, name)), vocabulary });
}

/** Replaces the catalogue of the app. Throws `InvalidPayload` for an invalid catalogue. */
export async function setCatalogue(apps: Apps, name: string, catalogue: unknown): Promise<Catalogue> {
  const parsed = parse(Catalogue, catalogue);
  const app = await getApp(apps, name);
  await apps.setCatalogue(app.name, parsed);
  return parsed;
}

/** Returns the app. Throws `AppNotFound`. */
export async function getApp(apps: Apps, name: string): Promise<App> {
  const app = await apps.find(name);
  if (!app) throw new ServiceError('AppNotFound', `The app ${name} is not found.`);
  return app;
}
