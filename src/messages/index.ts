/* The URLs, names and TLS options of brokers, which the event relay needs too. */

export { brokerName, describeConnection, natsOptionsOf } from './broker-name.js';
export { brokerFailureOf, caOf } from './broker-tls.js';
