package config

import "net/netip"

// networks parses addresses and networks. It refuses 10.0.0.1/8 and ::ffff:10.0.0.0/104,
// which are most likely mistyped, and networks of all addresses.
func networks(text string) ([]netip.Prefix, error) {
	var list []netip.Prefix
	for _, item := range items(text) {
		network, err := netip.ParsePrefix(item)
		if address, isAddress := netip.ParseAddr(item); isAddress == nil {
			network, err = netip.PrefixFrom(address, address.BitLen()), nil
			if address.Zone() != "" {
				return nil, rule("has an address with a zone, which belongs to one machine; name the proxy by an address that others see too")
			}
		}
		switch {
		case err != nil:
			return nil, rule("has to list addresses such as 127.0.0.1 and networks such as 10.0.0.0/8, with commas between")
		case network.Addr().Is4In6():
			return nil, rule("has an IPv4 address that is written as IPv6; write it as 10.0.0.1")
		case network != network.Masked():
			return nil, rule("has a network with an address in the place of its first one; write it as 10.0.0.0/8, or leave the " +
				"slash out for that address alone")
		case network.Bits() == 0:
			return nil, rule("has a network of everybody, whom nobody may believe; name the proxies in front of the server")
		}
		list = append(list, network)
	}
	return list, nil
}
