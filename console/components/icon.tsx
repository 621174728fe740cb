const paths = {
  alert:
    'M12 8v5m0 3.5v.01M10.3 3.9 2.5 17.5A2 2 0 0 0 4.2 20.500h15.600a2 2 0 0 0 1.700-3L13.700 3.900a2 2 0 0 0-3.400 0Z',
  check: 'm5 12.500 4.500 4.500L19 7.500',
  chevron: 'm9 6 6 6-6 6',
  close: 'm6 6 12 12M18 6 6 18',
  conversion: 'M3 5h18l-7 8v6l-4 2v-8L3 5Z',
  copy: 'M9 9h11v11H9zM15 9V4H4v11h5',
  customers:
    'M16 20v-1.500a4 4 0 0 0-4-4H7a4 4 0 0 0-4 4V20M9.500 11a3.500 3.500 0 1 0 0-7 3.500 3.500 0 0 0 0 7ZM21 20v-1.500a4 4 0 0 0-3-3.900M15.500 4.200a3.500 3.500 0 0 1 0 6.700',
  download: 'M12 4v11m0 0 4-4m-4 4-4-4M4 19.500h16',
  emulator:
    'M9 3h6M10 3v6.500L4.600 18.300A1.800 1.800 0 0 0 6.100 21h11.800a1.800 1.800 0 0 0 1.500-2.700L14 9.500V3M7.500 15h9',
  events: 'M4 6h16M4 12h16M4 18h10',
  lifetimeValue: 'M3 20c5 0 7-3 9-8s4-7 9-7M16 5h5v5',
  menu: 'M4 7h16M4 12h16M4 17h16',
  more: 'M4.500 12h1m6 0h1m6 0h1',
  moon: 'M20 14.500A8.500 8.500 0 0 1 9.500 4a8.500 8.500 0 1 0 10.500 10.500Z',
  note: 'M6 21V4m0 0h11l-2.500 4 2.500 4H6',
  overview: 'M4 20V10m5.300 10V4m5.400 16v-7M20 20V8',
  purchases: 'M6 8h12l1 12H5L6 8Zm3 0V7a3 3 0 0 1 6 0v1',
  reference: 'm8 7-5 5 5 5m8-10 5 5-5 5M13.500 4l-3 16',
  refresh: 'M20 11A8 8 0 0 0 5.500 7L4 9m0-5v5h5M4 13a8 8 0 0 0 14.500 4l1.500-2m0 5v-5h-5',
  refunds: 'M9 14 4 9l5-5M4 9h10a6 6 0 0 1 0 12h-3',
  retention: 'M4 4h4v16H4zM10 8h4v12h-4zM16 13h4v7h-4z',
  revenue:
    'M12 3v18m4.500-14.500c-1-1.500-2.500-2-4.500-2-2.500 0-4.500 1.300-4.500 3.500 0 4.500 9.500 2.500 9.500 7.500 0 2.300-2 3.500-5 3.500-2.200 0-4-.700-5-2.300',
  search: 'M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14Zm5-2 4.500 4.500',
  settings: 'M4 7h9m4 0h3M4 17h3m4 0h9M15 9a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM9 19a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z',
  signOut: 'M15 4h4a1 1 0 0 1 1 1v14a1 1 0 0 1-1 1h-4M10 8l-4 4 4 4m-4-4h10',
  stores: 'M4 10v10h16V10M3 10l2-6h14l2 6a3 3 0 0 1-6 0 3 3 0 0 1-6 0 3 3 0 0 1-6 0Z',
  subscriptions: 'M4 7a3 3 0 0 1 3-3h10a3 3 0 0 1 3 3v10a3 3 0 0 1-3 3H7a3 3 0 0 1-3-3zM4 9h16M9 14h6',
  sun: 'M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm0-14v2m0 16v2M2 12h2m16 0h2M5 5l1.400 1.400m11.200 11.200L19 19M5 19l1.400-1.400M17.600 6.400 19 5',
  system: 'M4 5h16v11H4zM9 20h6m-3-4v4',
  transactions: 'M4 8h14m0 0-3.500-3.500M18 8l-3.500 3.500M20 16H6m0 0 3.500-3.500M6 16l3.500 3.500',
  webhooks: 'M12 8a3 3 0 1 1 2.600-4.500M12 8l-4 8m4-8 4 7a4 4 0 1 1-2 6M8 16a4 4 0 1 1-5-3m5 3h8',
} as const;

export type IconName = keyof typeof paths;

/** An outline icon of 1.15 em. It is decorative: the control that contains it needs a text. */
export const Icon = ({ name }: { readonly name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    <path d={paths[name]} />
  </svg>
);
