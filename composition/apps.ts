import { createAppCache } from '../lib/apps/app-cache.ts';
import { createAppRepository } from '../lib/db/app-repository.ts';
import { once } from '../lib/shared/once.ts';
import { cipher } from './cipher.ts';
import { now } from './environment.ts';
import { table } from './table.ts';

export const apps = once(() => createAppRepository(table(), cipher()));
export const appCache = once(() => createAppCache(apps(), now));
