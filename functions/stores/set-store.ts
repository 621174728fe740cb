import { apps } from '../../composition/apps.ts';
import { createHandler } from '../../composition/endpoint.ts';
import { storeContextDeps } from '../../composition/store-context.ts';
import { setStore } from '../../lib/api/stores.ts';
import { ServiceError } from '../../lib/shared/errors.ts';
import { createStoreContext } from '../../lib/stores/create-store-context.ts';
import { loadStore } from '../../lib/stores/index.ts';

export const handler = createHandler(setStore, () => ({ ...storeContextDeps(), apps: apps() }))(
  async ({ app, params: { platform }, body: settings, recorder }, deps) => {
    const { checkSettings } = await loadStore(platform);
    const context = await createStoreContext(app.name, platform, { recorder, deps });
    const check = await checkSettings({ ...context, settings }, { callStore: true }).catch((error: unknown) => {
      // The settings are input here: a rejection is an error of the request, not of the service.
      const { code, message } = ServiceError.fromUnknown(error);
      throw code === 'InternalError' ? new ServiceError('InvalidPayload', message) : error;
    });
    await deps.apps.setStoreSettings(app.name, platform, settings);
    return { ok: true, platform, check };
  },
);
