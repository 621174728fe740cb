import { endpoints } from '../../api/endpoints.ts';
import { useApi, useLoad } from '../../api/use-api.ts';
import { Button } from '../../components/button.tsx';
import { SelectField } from '../../components/fields.tsx';
import { Row } from '../../components/layout.tsx';
import { Notice } from '../../components/notice.tsx';
import { formatDay, formatNumber, formatPlatform } from '../../format.ts';
import { changeQuery } from '../../router.tsx';
import { figuresEndpoints } from './figures-endpoints.ts';
import { filterNames } from './filter-names.ts';
import { toFiguresRequest } from './filters.ts';
import { describeSegment } from './segments.ts';
import type { PageFigures } from './use-figures.ts';

type Options = readonly (readonly [value: string, label: string])[];

/** Differences between fewer subscribers are mostly chance. */
const minSubscribers = 30;

/** The filters of figures, which combine, with the choices that the app has. All of them are in the link. */
export function FilterBar({ filters, range }: Pick<PageFigures<unknown>, 'filters' | 'range'>) {
  const { platform = '', productId = '', country = '', entitlement = '' } = filters.segment;
  const isFiltered = Object.keys(filters.segment).length > 0;
  const { data: countries } = useLoad(loadCountries, 'countries');
  const { data: app } = useApi(endpoints.getApp, { query: { include_products: 'true' } });
  const lastDay = { first: range.last, last: range.last };
  const request = toFiguresRequest(lastDay, { ...filters, by: 'none' }, 'range');
  const churn = useApi(figuresEndpoints.getChurn, isFiltered ? request : undefined);
  const subscribers = churn.isStale ? undefined : churn.data?.totals?.activeAtStart;
  const platforms = (app?.stores ?? []).flatMap((store) => (store.isConnected ? store.platform : []));
  const products = (app?.productIds ?? []).flatMap((productId) => {
    const [prefix = ''] = productId.split(':');
    const isOfStore = platform === '' || prefix === platform;
    return isOfStore ? [[productId, describeSegment({ platform: prefix, productId })] as const] : [];
  });
  const catalogue = Object.values(app?.catalogue ?? {});
  const entitlements = [...new Set(catalogue.flatMap((product) => product.entitlements ?? []))].sort();
  const change = (patch: Readonly<Record<string, string>>) => changeQuery({ skip: '', ...patch });
  return (
    <>
      <search aria-label="Filters">
        <Row>
          <SelectField
            label="Store"
            value={platform}
            options={toOptions(
              platform,
              platforms.map((id) => [id, formatPlatform(id)]),
            )}
            // A product belongs to one store.
            onChange={(id) => change({ platform: id, product: '' })}
          />
          <SelectField
            label="Product"
            value={productId}
            options={toOptions(productId, products)}
            onChange={(id) => change({ product: id })}
          />
          <SelectField
            label="Country"
            value={country}
            options={toOptions(country, countries ?? [])}
            onChange={(id) => change({ country: id })}
          />
          <SelectField
            label="Entitlement"
            value={entitlement}
            options={toOptions(
              entitlement,
              entitlements.map((name) => [name, name]),
            )}
            onChange={(id) => change({ entitlement: id })}
          />
          {isFiltered && (
            <Button
              kind="quiet"
              icon="close"
              onClick={() => change(Object.fromEntries(filterNames.map((name) => [name, ''])))}
            >
              Remove the filters
            </Button>
          )}
        </Row>
      </search>
      {isFiltered && churn.error === undefined && (
        <Notice>
          {subscribers === undefined ? (
            '\u00a0'
          ) : (
            <>
              The filters match {formatNumber(subscribers)} paying subscriptions at the start of {formatDay(range.last)}
              .{subscribers < minSubscribers && ` With fewer than ${minSubscribers}, rates and changes can be chance.`}
            </>
          )}
        </Notice>
      )}
    </>
  );
}

/** The choices of a filter, with the selected value of the link. */
const toOptions = (selected: string, options: Options): Options => [
  ['', 'All'],
  ...options,
  ...(selected === '' || options.some(([value]) => value === selected) ? [] : [[selected, selected] as const]),
];

const loadCountries = async () => (await import('./countries.ts')).listCountries();
