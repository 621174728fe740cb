import { findStoreSettings, setStoreSettings } from '../../lib/apps/store-settings-table.ts';
import { ServiceError } from '../../lib/foundation/errors.ts';
import { createHandler } from '../../lib/http/endpoint.ts';
import { setStore } from '../../lib/stores/contract.ts';
import { createStoreContext } from '../../lib/stores/create-store-context.ts';
import { loadStore } from '../../lib/stores/index.ts';
import { mergeSettings } from '../../lib/stores/settings-form.ts';

export const handler = createHandler(setStore)(
  async ({ app, params: { platform }, query, body, recorder }, service) => {
    const settings =
      query.merge === 'true' ? mergeSettings(await findStoreSettings(service, app.name, platform), body) : body;
    const { checkSettings } = await loadStore(platform);
    const context = await createStoreContext(service, app.name, { platform, recorder });
    const check = await checkSettings({ ...context, settings }, { callStore: true }).catch((error: unknown) => {
      // The settings are input here: a rejection is an error of the request, not of the service.
      const { code, message } = ServiceError.fromUnknown(error);
      throw code === 'InternalError' ? new ServiceError('InvalidPayload', message) : error;
    });
    await setStoreSettings(service, app.name, platform, settings);
    return { ok: true, platform, check };
  },
);
