import { attemptItems } from '../foundation/failed-items.ts';
import * as keys from '../foundation/keys.ts';
import { platforms } from '../foundation/platform.ts';
import { type Reencryption, reencryptField } from '../foundation/reencrypt-field.ts';
import type { Service } from '../foundation/service.ts';
import { erasureKeyContext, secretKeyContext, signingSecretContext } from './app-table.ts';
import { settingsContext } from './store-settings-table.ts';

/** Encrypts the app's stale secrets under the current master key. */
export async function reencryptSecrets({ table, cipher }: Service, name: string): Promise<Reencryption> {
  const item = (await table.get(keys.appKey(name))) ?? {};
  const settingsFields = platforms.map(async (platform) => ({
    item: (await table.get(keys.storeSettingsKey(name, platform))) ?? {},
    field: 'settings',
    context: settingsContext(name, platform),
  }));
  const fields = [
    { item, field: 'secretKey', context: secretKeyContext(name) },
    { item, field: 'signingSecret', context: signingSecretContext(name) },
    { item, field: 'formerSecret', context: signingSecretContext(name) },
    { item, field: 'erasureKey', context: erasureKeyContext(name) },
    ...(await Promise.all(settingsFields)),
  ];
  const { attempt, failed } = attemptItems({ worker: 'reencrypt', app: name });
  const wasStale = await Promise.all(
    fields.map(
      async (field) =>
        await attempt(
          `${field.field} of ${field.item.pk} ${field.item.sk}`,
          async () => await reencryptField(table, cipher, field),
        ),
    ),
  );
  return { reencrypted: wasStale.filter(Boolean).length, failed };
}
