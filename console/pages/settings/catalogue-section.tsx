import { useEffect, useState } from 'preact/hooks';
import type { CataloguePreview } from '../../../lib/apps/catalogue-contract.ts';
import { callApi } from '../../api/client.ts';
import { useAction, useApi } from '../../api/use-api.ts';
import { announceResult } from '../../components/announcer.tsx';
import { Button } from '../../components/button.tsx';
import { Form, TextArea } from '../../components/fields.tsx';
import { Row, Section } from '../../components/layout.tsx';
import { ErrorNotice, Notice, Skeleton } from '../../components/notice.tsx';
import { formatNumber } from '../../format.ts';
import { useCanChange } from '../../session.ts';
import { parseJsonObject } from './parse-json-object.ts';
import { settingsEndpoints } from './settings-endpoints.ts';

/** The products of the app. A change is saved after its preview. */
export function CatalogueSection() {
  const canChange = useCanChange();
  const { data, error, reload } = useApi(settingsEndpoints.getCatalogue, {});
  const [text, setText] = useState('');
  const [preview, setPreview] = useState<{ readonly text: string; readonly result: CataloguePreview }>();
  useEffect(() => {
    // The service returns the products in any order.
    if (data) setText(JSON.stringify(Object.fromEntries(Object.entries(data).sort()), null, 2));
  }, [data]);
  const previewing = useAction(async () => {
    const request = { query: { dryRun: 'true' as const }, body: parseJsonObject(text, 'The catalogue') };
    const { preview: result } = await callApi(settingsEndpoints.setCatalogue, request);
    if (result) setPreview({ text, result });
  });
  const saving = useAction(async () => {
    const { products } = await callApi(settingsEndpoints.setCatalogue, {
      body: parseJsonObject(text, 'The catalogue'),
    });
    announceResult(`${formatNumber(products)} products are saved.`);
    setPreview(undefined);
    reload();
  });
  const isPreviewed = preview?.text === text;
  return (
    <Section title="Catalogue" description="Products by id, with their type and entitlements.">
      <ErrorNotice error={error} onRetry={reload} />
      {!data && error === undefined ? (
        <Skeleton lines={6} />
      ) : (
        <Form label="Catalogue" onSubmit={isPreviewed ? saving.run : previewing.run}>
          <TextArea label="Products as JSON" value={text} onInput={setText} rows={10} />
          <ErrorNotice error={previewing.error ?? saving.error} />
          {isPreviewed && <Notice tone="info">{describePreview(preview.result)}</Notice>}
          {canChange && (
            <Row>
              <Button type="submit" isBusy={previewing.isRunning || saving.isRunning}>
                {isPreviewed ? 'Save' : 'Preview the change'}
              </Button>
            </Row>
          )}
        </Form>
      )}
    </Section>
  );
}

/** Describes who would gain and lose entitlements. */
function describePreview({ entitlements, checkedCustomers, isComplete }: CataloguePreview): string {
  const changes = Object.entries(entitlements).map(
    ([name, { gains, loses }]) => `${name}: ${formatNumber(gains)} customers gain it, ${formatNumber(loses)} lose it.`,
  );
  const scope = `${formatNumber(checkedCustomers)} customers checked${isComplete ? '' : ', not all: use the command line'}.`;
  return [...(changes.length > 0 ? changes : ['No customer gains or loses an entitlement.']), scope].join(' ');
}
