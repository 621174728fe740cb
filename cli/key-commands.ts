import { Argument, Command, Option } from 'commander';
import { type ApiKeyLevel, apiKeyLevels } from '../lib/apps/app.ts';
import { createApiKey, listApiKeys, revokeApiKey } from '../lib/apps/manage-apps.ts';
import { dayMs } from '../lib/foundation/time.ts';
import { type CommandResult, printResult } from './command-result.ts';
import { formatExamples } from './examples.ts';
import { formatKeys, toKeyData } from './format-keys.ts';
import { getService } from './get-service.ts';
import { parseDays, parseKeyName } from './option-parsers.ts';
import type { Output } from './output.ts';

/** Not an option, because other users of a machine can list the arguments of a command. */
const existingKeyVariable = 'CLAIMCHECK_EXISTING_KEY';

export function createKeyCommands(): Command {
  const key = new Command('key').description('Manage the API keys of an app');
  key
    .command('create')
    .description('Create a named API key (shown once)')
    .argument('<app>')
    .addOption(
      new Option('--level <level>', 'public: validate and sell; secret: everything; viewer: read only')
        .choices(apiKeyLevels)
        .makeOptionMandatory(),
    )
    .requiredOption('--name <text>', 'name of the key, which events contain', parseKeyName)
    .option('--expires <days>', 'validity in days; unlimited by default', parseDays)
    .option('--existing', `accept the key of another deployment in ${existingKeyVariable} instead of a new one`)
    .addHelpText(
      'after',
      formatExamples(
        'key create my-app --level viewer --name alice-support --expires 90',
        "key create my-app --level secret --name 'billing server'",
        'key create my-app --level public --name released-clients --existing',
      ),
    )
    .action(printResult(createAction));
  key
    .command('list')
    .description('List the API keys of an app')
    .argument('<app>')
    .addHelpText('after', formatExamples('key list my-app'))
    .action(printResult(listAction));
  key
    .command('revoke')
    .description('Revoke an API key; functions reject it within 15 seconds')
    .argument('<app>')
    .addArgument(new Argument('<id>', 'id from `key list`'))
    .addHelpText('after', formatExamples('key revoke my-app 0f110b8bbde7'))
    .action(printResult(revokeAction));
  return key;
}

interface CreateOptions {
  readonly level: ApiKeyLevel;
  readonly name: string;
  readonly expires?: number;
  readonly existing?: boolean;
}

async function createAction(
  appName: string,
  { level, name, expires: days, existing }: CreateOptions,
): Promise<CommandResult> {
  const { now } = getService();
  const { key, ...listed } = await createApiKey(getService(), appName, {
    level,
    name,
    now: now(),
    ...(days !== undefined && { validMs: days * dayMs }),
    ...(existing && { key: process.env[existingKeyVariable] ?? '' }),
  });
  if (existing) return { data: { app: appName, ...toKeyData(listed) }, text: formatKeys([listed]) };
  return {
    data: { app: appName, key, ...toKeyData(listed) },
    text: `${level} key  ${key}\n${formatKeys([listed])}\nStore the key now. It is not shown again.`,
  };
}

async function listAction(appName: string, { width }: Output): Promise<CommandResult> {
  const keys = await listApiKeys(getService(), appName);
  return { data: keys.map(toKeyData), text: formatKeys(keys, width) };
}

async function revokeAction(appName: string, id: string): Promise<CommandResult> {
  const revoked = await revokeApiKey(getService(), appName, id);
  return {
    data: { app: appName, revoked: toKeyData(revoked) },
    text: `Revoked: ${revoked.level} key ${revoked.id} (${revoked.name}).`,
  };
}
