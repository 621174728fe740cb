/** A file of the repository that is a page of the site, with its text in the navigation. Default: its heading. */
type Entry = string | readonly [source: string, label: string];

interface NavigationSection {
  readonly title: string;
  readonly entries: readonly Entry[];
}

/** The section with the pages of infra/render-api-reference.ts. */
export const referenceTitle = 'API reference';

/** The pages of the documentation site by task, in the order in which a reader needs them. */
export const navigation: readonly NavigationSection[] = [
  {
    title: 'First hour',
    entries: [
      ['README.md', 'Introduction'],
      ['docs/README.md', 'All pages'],
      'docs/operating/run-locally.md',
      'docs/console.md',
      'docs/emulator.md',
      'docs/emulator-actions.md',
    ],
  },
  {
    title: 'Connect your app',
    entries: [
      'docs/guides/plain-app.md',
      'docs/guides/flutter-expo-react-native.md',
      'docs/guides/openiap-clients.md',
      'docs/guides/cordova-plugin-purchase.md',
      'docs/guides/capacitor-plugin-cdv-purchase.md',
      'docs/guides/react-native-iaptic.md',
      'docs/guides/iaptic-js.md',
    ],
  },
  {
    title: 'Connect your server',
    entries: [
      ['packages/server/README.md', 'Package for JavaScript'],
      ['packages/server-python/README.md', 'Package for Python'],
      'docs/guides/entitlements.md',
      'docs/guides/credits.md',
      'docs/guides/verify-webhooks.md',
      'docs/guides/connect-an-assistant.md',
    ],
  },
  {
    title: 'Stores',
    entries: [
      ['docs/stores/README.md', 'All stores'],
      'docs/stores/app-store.md',
      'docs/stores/google-play.md',
      'docs/stores/microsoft-store.md',
      'docs/stores/stripe.md',
      'docs/stores/braintree.md',
      'docs/guides/prove-the-set-up.md',
    ],
  },
  {
    title: 'Deploy',
    entries: [
      'docs/guides/run-for-production.md',
      'docs/operating/deploy.md',
      'docs/operating/set-up-an-app.md',
      'docs/guides/move-from-another-validator.md',
      'docs/performance.md',
      'docs/cells-and-regions.md',
      'SECURITY.md',
    ],
  },
  {
    title: 'Operate',
    entries: [
      ['docs/operating/README.md', 'Operating by symptom'],
      'docs/operating/command-line.md',
      'docs/operating/webhooks.md',
      'docs/operating/rotate-secrets.md',
      'docs/operating/purchase-actions.md',
      'docs/operating/refund-requests.md',
      'docs/operating/customer-data.md',
      'docs/guides/export-data.md',
      'docs/guides/runbooks.md',
      'docs/operating/findings.md',
      'docs/operating/diagnose.md',
      'docs/operating/objectives.md',
      'docs/operating/release.md',
      'docs/operating/restore.md',
    ],
  },
  {
    title: 'Figures',
    entries: [
      'docs/figures.md',
      'docs/figures-example.md',
      'docs/proceeds.md',
      'docs/operating/events-and-statistics.md',
    ],
  },
  { title: referenceTitle, entries: [] },
  { title: 'Terms and changes', entries: ['docs/glossary.md', 'CHANGELOG.md'] },
  {
    title: 'How it is built',
    entries: [
      'docs/map.md',
      'docs/architecture.md',
      'docs/data-flow.md',
      'CONTRIBUTING.md',
      'docs/add-a-feature.md',
      ['console/README.md', 'Parts of the console'],
      ['emulator/README.md', 'Package of the emulator'],
      'bench/README.md',
      'docs/openiap-report.md',
    ],
  },
  {
    title: 'Decisions',
    entries: [
      ['docs/decisions/README.md', 'All decisions'],
      'docs/decisions/merging.md',
      'docs/decisions/customer-purchases.md',
      'docs/decisions/table.md',
      'docs/decisions/write-units.md',
      'docs/decisions/lists.md',
      'docs/decisions/statistics.md',
      'docs/decisions/figures.md',
      'docs/decisions/webhooks.md',
      'docs/decisions/limits.md',
      'docs/decisions/erasure.md',
      'docs/decisions/api.md',
      'docs/decisions/code.md',
      'docs/decisions/deployment.md',
      'docs/decisions/local-runtime.md',
      'docs/decisions/libraries.md',
    ],
  },
];

export const toSource = (entry: Entry): string => (typeof entry === 'string' ? entry : entry[0]);

/** Files of the repository that are pages of the site. */
export const documents: readonly string[] = navigation.flatMap(({ entries }) => entries.map(toSource));
