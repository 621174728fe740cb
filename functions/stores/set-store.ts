import { changeStoreSettings, setStoreSettings } from '../../lib/apps/store-settings-table.ts';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { setStore } from '../../lib/stores/contract.ts';
import { createStoreContext } from '../../lib/stores/create-store-context.ts';
import { loadStore } from '../../lib/stores/index.ts';
import { mergeSettings } from '../../lib/stores/settings-form.ts';

export const handler = createHandler(setStore)(
  async ({ app, params: { platform }, query, body, recorder }, service) => {
    const { checkSettings } = await loadStore(platform);
    const context = await createStoreContext(service, app.name, { platform, recorder });
    const checkAtStore = async (settings: unknown) =>
      await checkSettings({ ...context, settings }, { callStore: true }).catch((error: unknown) => {
        // The settings are input here: a rejection is an error of the request, not of the service.
        const { code, message } = ServiceError.fromUnknown(error);
        throw code === 'InternalError' ? new ServiceError('InvalidPayload', message) : error;
      });
    if (query.merge === 'true') {
      const { check } = await changeStoreSettings(service, app.name, platform, async (stored) => {
        const settings = mergeSettings(stored, body);
        return { settings, check: await checkAtStore(settings) };
      });
      return { ok: true, platform, check };
    }
    const check = await checkAtStore(body);
    await setStoreSettings(service, app.name, platform, body);
    return { ok: true, platform, check };
  },
);
