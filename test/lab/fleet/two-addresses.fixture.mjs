import dns from 'node:dns';

/*
 * Loaded into an instance of the service: the name `balancer` has two addresses, as in the networks of compose.yaml.
 */

const ADDRESSES = ['127.0.0.1', '127.0.0.2'].map((address) => ({ address, family: 4 }));
const { lookup } = dns;

dns.lookup = (name, options, callback) => {
  if (name !== 'balancer') return lookup(name, options, callback);
  process.nextTick(() =>
    options.all ? callback(null, ADDRESSES) : callback(null, ADDRESSES[0].address, ADDRESSES[0].family),
  );
};
