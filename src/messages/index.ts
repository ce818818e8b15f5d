/* The URLs, names and TLS options of brokers, which the event relay needs too. */

export { brokerName, describeConnection, natsOptionsOf, brokerFailureOf, caOf } from './broker-connection.js';
