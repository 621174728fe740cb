import type { PageDefinition } from './page.ts';

/** All pages. Pages with an icon are in the navigation, in this order. The first path that matches is shown. */
export const pages: readonly PageDefinition[] = [
  { path: '/', title: 'Overview', icon: 'overview', load: async () => (await import('./overview.tsx')).OverviewPage },
  {
    path: '/revenue',
    title: 'Revenue',
    icon: 'revenue',
    load: async () => (await import('./figures/pages.ts')).RevenuePage,
  },
  {
    path: '/subscriptions',
    title: 'Subscriptions',
    icon: 'subscriptions',
    load: async () => (await import('./figures/pages.ts')).SubscriptionsPage,
  },
  {
    path: '/retention',
    title: 'Retention',
    icon: 'retention',
    load: async () => (await import('./figures/pages.ts')).RetentionPage,
  },
  {
    path: '/ltv',
    title: 'Lifetime value',
    icon: 'lifetimeValue',
    load: async () => (await import('./figures/pages.ts')).LifetimeValuePage,
  },
  {
    path: '/conversion',
    title: 'Conversion',
    icon: 'conversion',
    load: async () => (await import('./figures/pages.ts')).ConversionPage,
  },
  {
    path: '/customers',
    title: 'Customers',
    icon: 'customers',
    load: async () => (await import('./customers/customers.tsx')).CustomersPage,
  },
  {
    path: '/customers/:user',
    title: 'Customer',
    load: async () => (await import('./customers/customer.tsx')).CustomerPage,
  },
  {
    path: '/purchases/:id',
    title: 'Purchase',
    load: async () => (await import('./purchase/purchase.tsx')).PurchasePage,
  },
  {
    path: '/transactions',
    title: 'Transactions',
    icon: 'transactions',
    load: async () => (await import('./transactions/transactions.tsx')).TransactionsPage,
  },
  { path: '/events', title: 'Events', icon: 'events', load: async () => (await import('./events.tsx')).EventsPage },
  { path: '/events/:id', title: 'Event', load: async () => (await import('./event.tsx')).EventPage },
  {
    path: '/webhooks',
    title: 'Webhooks',
    icon: 'webhooks',
    load: async () => (await import('./webhooks/webhooks.tsx')).WebhooksPage,
  },
  { path: '/webhooks/:id', title: 'Webhook', load: async () => (await import('./webhooks/delivery.tsx')).DeliveryPage },
  {
    path: '/refund-requests',
    title: 'Refund requests',
    icon: 'refunds',
    load: async () => (await import('./refund-requests.tsx')).RefundRequestsPage,
  },
  { path: '/stores', title: 'Stores', icon: 'stores', load: async () => (await import('./stores.tsx')).StoresPage },
  {
    path: '/settings',
    title: 'Settings',
    icon: 'settings',
    load: async () => (await import('./settings/settings.tsx')).SettingsPage,
  },
  {
    path: '/reference',
    title: 'API reference',
    icon: 'reference',
    load: async () => (await import('./reference.tsx')).ReferencePage,
  },
  {
    path: '/reference/:operation',
    title: 'Operation',
    load: async () => (await import('./operation.tsx')).OperationPage,
  },
  {
    path: '/emulator',
    title: 'Emulator',
    icon: 'emulator',
    isLocal: true,
    load: async () => (await import('./emulator/emulator.tsx')).EmulatorPage,
  },
];
