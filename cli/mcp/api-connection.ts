import { readFileSync, statSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { InvalidArgumentError } from 'commander';
import * as v from 'valibot';
import { AppName } from '../../lib/apps/app.ts';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { parse, parseJson } from '../../lib/foundation/parse.ts';
import { type ConnectionOptions, notRunningError } from '../connect.ts';
import { describeFileError } from '../describe-file-error.ts';
import { readJsonFile } from '../read-json-file.ts';

/** The API of a service, and an app with a key that may read. */
export interface ApiConnection {
  readonly url: string;
  readonly app: string;
  readonly key: string;
}

/** The file that `npm start` writes for scripts. */
const LocalService = v.object({ baseUrl: v.string(), app: v.string(), secretKey: v.string() });

const loopbackPattern = /^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?(?:\/|$)/;

const Profile = v.object({
  url: v.pipe(
    v.string(),
    v.url('the URL of the service'),
    v.check((url) => url.startsWith('https://') || loopbackPattern.test(url), 'a URL that starts with https://'),
  ),
  app: AppName,
  key: v.pipe(v.string(), v.regex(/^view_[\w-]+$/, 'a viewer key, which starts with view_')),
});

/** Returns the service that the options of the program select: the demo app of `--local`, or a `--profile`. */
export function readApiConnection({ local, folder, profile }: ConnectionOptions): ApiConnection {
  if (local) return readLocalConnection(folder);
  if (profile === undefined)
    throw new InvalidArgumentError('Pass --local, or --profile with the name of a profile of a viewer key.');
  const file = process.env.CLAIMCHECK_PROFILES || join(homedir(), '.claimcheck', 'profiles.json');
  requirePrivate(file);
  const profiles = readJsonFile(file);
  if (profiles[profile] === undefined)
    throw new ServiceError('ResourceNotFound', `${file} does not contain the profile ${profile}.`);
  return parse(Profile, profiles[profile]);
}

function readLocalConnection(folder: string): ApiConnection {
  try {
    const { baseUrl, app, secretKey } = parseJson(LocalService, readFileSync(join(folder, 'ready.json'), 'utf8'));
    return { url: baseUrl, app, key: secretKey };
  } catch (cause) {
    throw notRunningError(cause);
  }
}

/** Rejects a file with keys that other users of the machine can read. */
function requirePrivate(file: string): void {
  const isPrivate = process.platform === 'win32' || (readMode(file) & 0o077) === 0;
  if (!isPrivate)
    throw new ServiceError('Forbidden', `${file} must be readable for its owner only: run chmod 600 on it.`);
}

function readMode(file: string): number {
  try {
    return statSync(file).mode;
  } catch (cause) {
    throw new ServiceError('InvalidPayload', `${file} ${describeFileError(cause)}.`, { cause });
  }
}
