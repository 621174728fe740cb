/**
 * Time in milliseconds after which a server closes an idle connection, as load balancers do. A client on a busy machine
 * can send a request on a connection that the default of Node.js (5 s) has just closed.
 */
export const keepAliveTimeout = 65_000;
