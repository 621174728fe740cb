import { endpoints } from '../../api/endpoints.ts';
import { useApi } from '../../api/use-api.ts';
import { Page } from '../../components/layout.tsx';
import { EndPlaceholders, ErrorNotice, Notice, Skeleton } from '../../components/notice.tsx';
import { useCanChange } from '../../session.ts';
import type { PageProps } from '../page.ts';
import { AccessSection } from './access-section.tsx';
import { AlertsSection } from './alerts-section.tsx';
import { CatalogueSection } from './catalogue-section.tsx';
import { KeysSection } from './keys-section.tsx';
import { StoreSettingsSection } from './store-settings-section.tsx';
import { WebhookSettingsSection } from './webhook-settings-section.tsx';

/** The settings of the app. A viewer key shows them; nothing secret is shown. */
export function SettingsPage({ query }: PageProps) {
  const canChange = useCanChange();
  const { data: app, error, reload } = useApi(endpoints.getApp, {});
  return (
    <Page title="Settings" subtitle="Changes take effect within 15 seconds.">
      <ErrorNotice error={error} onRetry={reload} />
      {!canChange && <Notice>The secret key can change the settings.</Notice>}
      <EndPlaceholders error={error}>
        {app ? (
          <>
            <StoreSettingsSection stores={app.stores} selected={query.store} onSaved={reload} />
            <WebhookSettingsSection webhooks={app.webhooks} onSaved={reload} />
            <KeysSection />
            <AlertsSection app={app} onSaved={reload} />
            <AccessSection key={`${app.strategy} ${app.unverifiedHours}`} app={app} onSaved={reload} />
            <CatalogueSection />
          </>
        ) : (
          <Skeleton lines={12} />
        )}
      </EndPlaceholders>
    </Page>
  );
}
