import * as v from 'valibot';
import type { AppRepository } from '../db/app-repository.ts';
import type { Strategy } from '../purchases/claims.ts';
import { ServiceError } from '../shared/errors.ts';
import { parse } from '../shared/parse.ts';
import type { EpochMillis } from '../shared/time.ts';
import { generateApiKey, hashApiKey } from './api-keys.ts';
import { type App, AppName } from './app.ts';

/** The keys of an application in clear, shown once. */
export interface IssuedApiKeys {
  readonly appName: string;
  readonly publicKey: string;
  readonly secretKey: string;
}

/** Creates an application with new keys. Throws `InvalidPayload` for a bad name and `Conflict` for one that exists. */
export async function createApp(apps: AppRepository, name: string, now: EpochMillis): Promise<IssuedApiKeys> {
  const { name: appName } = parse(v.object({ name: AppName }), { name });
  if (await apps.find(appName)) throw new ServiceError('Conflict', `An application named ${appName} exists already.`);
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

/** Issues a new key of one level; the present one stays live for `overlapMs`, an older one ends now. */
export async function rotateApiKey(
  apps: AppRepository,
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

/** Sets who owns a purchase that several users claim; purchases follow at their next validation or notification. */
export async function setStrategy(apps: AppRepository, name: string, strategy: Strategy): Promise<App> {
  const app = { ...(await getApp(apps, name)), strategy };
  await apps.update(app);
  return app;
}

/** Sets the words of answers to the secret key and of webhooks: those of the specification, or the stores' brand words. */
export async function setVocabulary(apps: AppRepository, name: string, vocabulary: App['vocabulary']): Promise<void> {
  await apps.update({ ...(await getApp(apps, name)), vocabulary });
}

/** The application of that name; throws `AppNotFound`. */
export async function getApp(apps: AppRepository, name: string): Promise<App> {
  const app = await apps.find(name);
  if (!app) throw new ServiceError('AppNotFound', `There is no application named ${name}.`);
  return app;
}
